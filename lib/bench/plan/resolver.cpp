#include "bench/plan/resolver.h"

#include "bench/plan/config_file.h"
#include "bench/plan/parse_value.h"
#include "common/errors.h"

namespace precbench {
namespace {

ResolvedValue from_flag(const OptionSpec& option, const std::vector<std::string>& texts) {
  const std::string where = "--" + option.name;
  if (option.type == OptionType::repeatable) return {texts, "flag", where};
  if (texts.size() > 1)
    throw UsageError(where + " is given " + std::to_string(texts.size()) +
                     " times; once is enough");
  return {parse_value(option, texts.front(), where), "flag", where};
}

ResolvedValue default_of(const OptionSpec& option) {
  const std::string where = "default of --" + option.name;
  if (option.default_text.empty()) return {nullptr, "default", where};
  return {parse_value(option, option.default_text, where), "default", where};
}

void refuse_unbuilt(const OptionSpec& option, const ResolvedValue& value) {
  if (option.is_built || value.source == "default") return;
  throw UsageError(value.where + ": not in this version; leave it out");
}

}  // namespace

ResolvedOptions resolve(const GivenFlags& flags, const Environment& environment) {
  const auto from_environment = [&](const OptionSpec& option) -> std::optional<ResolvedValue> {
    const std::string variable = environment_variable(option);
    const char* text = environment(variable.c_str());
    if (text == nullptr || *text == '\0') return std::nullopt;
    return ResolvedValue{parse_value(option, text, variable), "environment", variable};
  };
  const auto given = [&](const OptionSpec& option) -> std::optional<ResolvedValue> {
    if (const auto flag = flags.find(option.name); flag != flags.end())
      return from_flag(option, flag->second);
    return from_environment(option);
  };

  ResolvedOptions resolved;
  ConfigFile config;
  const OptionSpec& config_option = *find_option("config");
  if (const auto named = given(config_option)) {
    config = load_config(named->value.get<std::string>());
    resolved.config_name_ = config.name;
  }
  for (const OptionSpec& option : option_table()) {
    std::optional<ResolvedValue> value = given(option);
    if (!value) {
      if (const auto entry = config.values.find(option.name); entry != config.values.end()) {
        const std::string where = config.path + ": " + config_key(option);
        value = ResolvedValue{parse_config_value(option, entry->second, where), "config", where};
      }
    }
    if (!value) value = default_of(option);
    refuse_unbuilt(option, *value);
    resolved.values_[option.name] = *value;
  }
  return resolved;
}

const ResolvedValue& ResolvedOptions::at(std::string_view name) const {
  const auto entry = values_.find(name);
  if (entry == values_.end())
    throw std::logic_error("resolver.cpp: no option " + std::string(name));
  return entry->second;
}

std::string ResolvedOptions::text(std::string_view name) const {
  return has(name) ? at(name).value.get<std::string>() : "";
}

bool ResolvedOptions::flag(std::string_view name) const {
  return has(name) && at(name).value.get<bool>();
}

int64_t ResolvedOptions::integer(std::string_view name) const {
  return has(name) ? at(name).value.get<int64_t>() : 0;
}

std::optional<double> ResolvedOptions::number(std::string_view name) const {
  return has(name) ? std::optional(at(name).value.get<double>()) : std::nullopt;
}

std::vector<std::string> ResolvedOptions::texts(std::string_view name) const {
  return has(name) ? at(name).value.get<std::vector<std::string>>() : std::vector<std::string>{};
}

std::vector<int64_t> ResolvedOptions::integers(std::string_view name) const {
  return has(name) ? at(name).value.get<std::vector<int64_t>>() : std::vector<int64_t>{};
}

json ResolvedOptions::as_json() const {
  json document = json::object();
  for (const OptionSpec& option : option_table()) {
    const ResolvedValue& value = at(option.name);
    if (option.is_hidden && value.source == "default") continue;
    document[config_key(option)] = {{"value", value.value}, {"source", value.source}};
  }
  return document;
}

}  // namespace precbench
