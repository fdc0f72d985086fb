#include "common/fields.h"

#include <nlohmann/json.hpp>

namespace precbench {
namespace {

template <typename Number>
std::string out_of_range(const Rule& rule, Number value) {
  const auto number = static_cast<double>(value);
  if (number >= rule.low && number <= rule.high) return "";
  if (!rule.must_be.empty()) return "must be " + std::string(rule.must_be);
  // As the member's own type would be written: 1, not 1.0.
  const auto bound = [](double limit) { return nlohmann::json(static_cast<Number>(limit)).dump(); };
  if (number > rule.high) return "must be at most " + bound(rule.high);
  return rule.low == 0 ? "must not be negative" : "must be at least " + bound(rule.low);
}

}  // namespace

std::vector<std::string> split_words(std::string_view words) {
  std::vector<std::string> split;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    split.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return split;
}

std::string broken(const Rule& rule, double value) { return out_of_range(rule, value); }
std::string broken(const Rule& rule, int64_t value) { return out_of_range(rule, value); }

std::string broken(const Rule& rule, const std::string& value) {
  if (rule.words.empty()) return "";
  std::string allowed;
  for (const std::string& word : split_words(rule.words)) {
    if (word == value) return "";
    allowed += (allowed.empty() ? "" : ", ") + word;
  }
  return "'" + value + "' is not one of " + allowed;
}

}  // namespace precbench
