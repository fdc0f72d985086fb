#include "bench/plan/options.h"

#include <algorithm>

#include "common/suggest.h"

namespace precbench {
namespace {

constexpr std::string_view kPrefix = "PRECBENCH_";

std::string with_underscores(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace

const OptionSpec* find_option(std::string_view name) {
  for (const OptionSpec& option : option_table()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string config_key(const OptionSpec& option) { return with_underscores(option.name); }

std::string environment_variable(const OptionSpec& option) {
  std::string name = with_underscores(option.name);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;  // whatever the locale
  });
  return std::string(kPrefix) + name;
}

std::vector<std::string> misspelt_variables(const std::vector<std::string>& names) {
  std::vector<std::string> known;  // without the prefix, which would make every name look near
  for (const OptionSpec& option : option_table()) {
    known.push_back(environment_variable(option).substr(kPrefix.size()));
  }
  for (const std::string_view name : kReservedVariables)
    known.emplace_back(name.substr(kPrefix.size()));
  std::vector<std::string> sentences;
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string bare = name.substr(kPrefix.size());
    if (std::find(known.begin(), known.end(), bare) != known.end()) continue;
    if (const auto guess = nearest(bare, known)) {
      sentences.push_back("variable " + name + " is not read; did you mean " +
                          std::string(kPrefix) + *guess + "?");
    }
  }
  return sentences;
}

}  // namespace precbench
