// The words of enumerations in files, on the pipe and on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace precbench {

// In the order of the enumerators, which have the values 0, 1, 2 ...; specialised beside each one.
template <typename Enum>
inline constexpr auto kWordsOf = nullptr;

template <typename T>
concept HasWords =
    std::is_enum_v<T> && !std::is_same_v<decltype(kWordsOf<T>), const std::nullptr_t>;

template <HasWords Enum>
constexpr std::string_view name_of(Enum value) {
  return kWordsOf<Enum>.at(static_cast<size_t>(value));
}

template <HasWords Enum>
std::optional<Enum> find_word(std::string_view word) {
  const auto& words = kWordsOf<Enum>;
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

// "describe, probe or train"
template <HasWords Enum>
std::string all_words() {
  std::string text;
  const auto& words = kWordsOf<Enum>;
  for (const std::string_view& word : words) {
    text += &word == &words.front() ? "" : &word == &words.back() ? " or " : ", ";
    text += word;
  }
  return text;
}

}  // namespace precbench
