#include "bench/plan/parse_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/errors.h"
#include "common/suggest.h"
#include "common/utf8.h"

namespace precbench {
namespace {

struct Unit {
  std::string_view suffix;
  double factor;
};

constexpr Unit kDurationUnits[] = {{"s", 1.0}, {"m", 60.0}, {"h", 3600.0}};
constexpr Unit kSizeUnits[] = {{"KiB", 1024.0},
                               {"MiB", 1048576.0},
                               {"GiB", 1073741824.0},
                               {"TiB", 1099511627776.0},
                               {"", 1.0}};
constexpr double kMaxDurationS = 366.0 * 24 * 3600;  // a year: longer is a typing error

template <size_t N>
std::optional<double> with_unit(std::string_view text, const Unit (&units)[N]) {
  for (const Unit& unit : units) {
    if (text.size() <= unit.suffix.size()) continue;
    if (text.substr(text.size() - unit.suffix.size()) != unit.suffix) continue;
    const auto number = parse_number(text.substr(0, text.size() - unit.suffix.size()));
    if (number && *number > 0) return *number * unit.factor;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& where, const std::string& text,
                         const std::string& allowed) {
  throw UsageError(where + ": '" + text + "' " + allowed);
}

std::string range_words(const OptionSpec& option, const char* kind) {
  if (option.low == option.high) return fmt::format("is not {}", kind);
  return fmt::format("is not {} from {:.15g} to {:.15g}", kind, option.low, option.high);
}

bool in_range(const OptionSpec& option, double value) {
  return option.low == option.high || (value >= option.low && value <= option.high);
}

bool is_word_of(const OptionSpec& option, const std::string& text) {
  return std::find(option.allowed.begin(), option.allowed.end(), text) != option.allowed.end();
}

json choice_value(const OptionSpec& option, const std::string& text, const std::string& where) {
  if (is_word_of(option, text)) return text;
  if (option.takes_file && text.find_first_of("./:") != std::string::npos) return text;
  std::string message = where + ": unknown value '" + text + "'";
  if (const auto guess = nearest(text, option.allowed))
    message += "; did you mean '" + *guess + "'?";
  throw UsageError(message + "\n       allowed: " + joined(option.allowed) +
                   (option.takes_file ? ", or the path of a file" : ""));
}

json integer_value(const OptionSpec& option, const std::string& text, const std::string& where) {
  if (is_word_of(option, text)) return text;
  const auto value = parse_integer(text);
  if (!value || !in_range(option, static_cast<double>(*value))) {
    refuse(where, text,
           range_words(option, "a whole number") +
               (option.allowed.empty() ? "" : ", nor " + joined(option.allowed)));
  }
  return *value;
}

std::vector<std::string> list_value(const std::string& text, const std::string& where) {
  std::vector<std::string> parts = split_list(text);
  for (const std::string& part : parts) {
    if (part.empty()) refuse(where, text, "has an empty part between its commas");
  }
  return parts;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos)
    return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> parse_duration(std::string_view text) {
  const auto seconds = with_unit(text, kDurationUnits);
  return seconds && *seconds <= kMaxDurationS ? seconds : std::nullopt;
}

std::optional<int64_t> parse_size(std::string_view text) {
  const auto bytes = with_unit(text, kSizeUnits);
  // Beyond 2^53 doubles skip whole numbers.
  if (!bytes || *bytes < 1 || *bytes > 9007199254740992.0) return std::nullopt;
  return static_cast<int64_t>(*bytes);
}

json parse_value(const OptionSpec& option, const std::string& text, const std::string& where) {
  // The worker gets its job, and the result file its options, as JSON.
  if (!is_utf8(text)) refuse(where, text, "is not UTF-8; rename the file, or link to it");
  switch (option.type) {
    case OptionType::flag:
      if (text == "true" || text == "1") return true;
      if (text == "false" || text == "0") return false;
      refuse(where, text, "is not true or false");
    case OptionType::choice:
      return choice_value(option, text, where);
    case OptionType::list:
      return list_value(text, where);
    case OptionType::integers: {
      json values = json::array();
      for (const std::string& part : list_value(text, where))
        values.push_back(integer_value(option, part, where));
      return values;
    }
    case OptionType::integer:
      return integer_value(option, text, where);
    case OptionType::number: {
      const auto value = parse_number(text);
      if (!value || !in_range(option, *value)) refuse(where, text, range_words(option, "a number"));
      return *value;
    }
    case OptionType::duration:
      if (const auto seconds = parse_duration(text)) return *seconds;
      refuse(where, text, "is not a duration like 90s, 5m or 1.5h");
    case OptionType::size:
      if (const auto bytes = parse_size(text)) return *bytes;
      refuse(where, text, "is not a size like 500MiB or 2GiB");
    case OptionType::repeatable:
      return json::array({text});
    case OptionType::text:
      break;
  }
  return text;
}

json parse_config_value(const OptionSpec& option, const json& value, const std::string& where) {
  const auto wrong_type = [&](const char* expected) {
    throw UsageError(where + ": must be " + expected + ", not " + value.type_name());
  };
  // An array means what its elements mean between commas.
  const auto texts = [&] {
    std::string text;
    for (const json& part : value) {
      const bool is_text =
          part.is_string() && part.get_ref<const std::string&>().find(',') == std::string::npos;
      if (!is_text && !part.is_number_integer()) wrong_type("an array of texts or whole numbers");
      if (&part != &value.front()) text += ',';
      text += is_text ? part.get<std::string>() : part.dump();
    }
    return text;
  };
  switch (option.type) {
    case OptionType::flag:
      if (!value.is_boolean()) wrong_type("true or false");
      return value;
    case OptionType::integer:
      if (value.is_string() && is_word_of(option, value.get<std::string>())) return value;
      if (!value.is_number_integer()) wrong_type("a whole number");
      return parse_value(option, value.dump(), where);
    case OptionType::number:
      if (!value.is_number()) wrong_type("a number");
      return parse_value(option, value.dump(), where);
    case OptionType::list:
    case OptionType::integers:
      if (value.is_array()) return parse_value(option, texts(), where);
      break;
    case OptionType::repeatable:
      if (!value.is_array()) wrong_type("an array of texts");
      for (const json& part : value) {
        if (!part.is_string()) wrong_type("an array of texts");
      }
      return value;
    default:
      break;
  }
  if (!value.is_string())
    wrong_type(option.type == OptionType::list ? "a text or an array of texts" : "a text");
  return parse_value(option, value.get<std::string>(), where);
}

bool is_resolved_value(const OptionSpec& option, const json& value) {
  const auto is_text = [](const json& part) { return part.is_string(); };
  const auto is_whole = [&](const json& part) {
    return part.is_number_integer() && in_range(option, part.get<double>());
  };
  if (value.is_null()) return option.default_text.empty();
  switch (option.type) {
    case OptionType::flag:
      return value.is_boolean();
    case OptionType::integer:
    case OptionType::size:
      return is_whole(value) || (value.is_string() && is_word_of(option, value.get<std::string>()));
    case OptionType::number:
    case OptionType::duration:
      return value.is_number() && in_range(option, value.get<double>());
    case OptionType::list:
    case OptionType::repeatable:
      return value.is_array() && std::all_of(value.begin(), value.end(), is_text);
    case OptionType::integers:
      return value.is_array() && std::all_of(value.begin(), value.end(), is_whole);
    case OptionType::choice:
      if (!value.is_string()) return false;
      return option.takes_file || is_word_of(option, value.get<std::string>());
    case OptionType::text:
      return value.is_string();
  }
  return false;
}

}  // namespace precbench
