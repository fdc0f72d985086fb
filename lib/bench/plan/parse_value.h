// Texts of users into values: strict and independent of the locale. Errors say what is allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/plan/options.h"
#include "common/json_fields.h"

namespace precbench {

// The whole text as a number; nothing for anything else ("1e3x", " 1", "nan", "0x10", out of
// range).
std::optional<int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

// Seconds of "90s", "5m", "1.5h"; bytes of "500MiB", "2GiB", "4096". Positive only.
std::optional<double> parse_duration(std::string_view text);
std::optional<int64_t> parse_size(std::string_view text);

// A value of the option's type as JSON (duration in seconds, size in bytes); `where` names the
// flag, variable or key in errors. Throws UsageError.
json parse_value(const OptionSpec& option, const std::string& text, const std::string& where);

// The same for a value from a configuration file, which has JSON's types: a whole number may not be
// a text. Durations and sizes are texts there too.
json parse_config_value(const OptionSpec& option, const json& value, const std::string& where);

// The parts of "a, b,c" without blanks around them; an empty text is one empty part.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

// Whether a value that a result file carries (invocation.config) could be one of this option's.
bool is_resolved_value(const OptionSpec& option, const json& value);

}  // namespace precbench
