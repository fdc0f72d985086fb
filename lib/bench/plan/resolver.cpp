#include "bench/plan/resolver.h"

#include <filesystem>

#include "bench/plan/config_file.h"
#include "bench/plan/parse_value.h"
#include "bench/result/document.h"
#include "common/errors.h"

namespace precbench {
namespace {

ResolvedValue from_flag(const OptionSpec& option, const std::vector<std::string>& texts) {
  const std::string where = "--" + option.name;
  if (option.type == OptionType::repeatable) {
    json all = json::array();
    for (const std::string& text : texts) all.push_back(parse_value(option, text, where).front());
    return {all, Source::flag, where};
  }
  if (texts.size() > 1)
    throw UsageError(where + " is given " + std::to_string(texts.size()) +
                     " times; once is enough");
  return {parse_value(option, texts.front(), where), Source::flag, where};
}

ResolvedValue default_of(const OptionSpec& option) {
  const std::string where = "default of --" + option.name;
  if (option.default_text.empty()) return {nullptr, Source::default_value, where};
  return {parse_value(option, option.default_text, where), Source::default_value, where};
}

std::optional<Source> source_named(const json& name) {
  for (const Source source :
       {Source::default_value, Source::config, Source::environment, Source::flag}) {
    if (name == name_of(source)) return source;
  }
  return std::nullopt;
}

// What belongs to the call and not to the comparison.
bool is_of_the_call(const OptionSpec& option) {
  return option.name == "resume" || option.name == "dry-run" || option.name == "no-save";
}

// The options that a comparison was started with, from its result file.
class OwnOptions {
 public:
  OwnOptions() = default;
  explicit OwnOptions(const std::string& path) : path_(path) {
    // It is going to be replaced, and reading a pipe could take for ever.
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
      throw FileError("'" + path +
                      "' (--resume) is no file: name the result file of an earlier comparison");
    }
    options_ = load_result(path).invocation.value("config", json::object());
  }

  bool empty() const { return !options_.is_object() || options_.empty(); }

  std::optional<ResolvedValue> value(const OptionSpec& option) const {
    if (empty() || is_of_the_call(option)) return std::nullopt;
    const auto entry = options_.find(config_key(option));
    if (entry == options_.end()) return std::nullopt;
    const std::string where = path_ + ": " + config_key(option);
    const auto source = source_named(entry->is_object() ? entry->value("source", json()) : json());
    if (!source || !entry->contains("value") || !is_resolved_value(option, entry->at("value"))) {
      throw FileError(where + ": not a value that a comparison can go on with");
    }
    return ResolvedValue{entry->at("value"), *source, where};
  }

 private:
  std::string path_;
  json options_;
};

// Where values come from, asked from the strongest source down.
class Sources {
 public:
  Sources(const GivenFlags& flags, const Environment& environment)
      : flags_(flags), environment_(environment) {
    const ResolvedValue resumed = value(*find_option("resume"));
    if (!resumed.value.is_null()) own_ = OwnOptions(resumed.value.get<std::string>());
    const ResolvedValue named = value(*find_option("config"));
    if (named.value.is_null()) return;
    const auto path = named.value.get<std::string>();
    // All that came from the file's own configuration stands in it already.
    if (own_.value(*find_option("config")) && !flags_.contains("config")) {
      config_.name = std::filesystem::path(path).stem().string();
    } else {
      config_ = load_config(path);
    }
  }

  // The value of the strongest source that has one and is not stronger than `limit`.
  ResolvedValue value(const OptionSpec& option, Source limit = Source::flag) const {
    if (limit >= Source::flag) {
      if (const auto flag = flags_.find(option.name); flag != flags_.end())
        return from_flag(option, flag->second);
    }
    if (!own_.empty() && !is_of_the_call(option)) return resumed(option, limit);
    if (limit >= Source::environment) {
      const std::string variable = environment_variable(option);
      const char* text = environment_(variable.c_str());
      if (text != nullptr && *text != '\0')
        return {parse_value(option, text, variable), Source::environment, variable};
    }
    if (const auto configured = from_config(option, limit)) return *configured;
    return default_of(option);
  }

  const std::string& config_name() const { return config_.name; }

 private:
  std::optional<ResolvedValue> from_config(const OptionSpec& option, Source limit) const {
    const auto entry = config_.values.find(option.name);
    if (limit < Source::config || entry == config_.values.end()) return std::nullopt;
    const std::string where = config_.path + ": " + config_key(option);
    return ResolvedValue{parse_config_value(option, entry->second, where), Source::config, where};
  }

  // A configuration counts here where a flag names it; variables do not, as they were those of
  // another day.
  ResolvedValue resumed(const OptionSpec& option, Source limit) const {
    if (const auto configured = from_config(option, limit)) return *configured;
    const auto own = own_.value(option);
    return own && own->source <= limit ? *own : default_of(option);
  }

  const GivenFlags& flags_;
  const Environment& environment_;
  OwnOptions own_;  // with --resume
  ConfigFile config_;
};

using Values = std::map<std::string, ResolvedValue, std::less<>>;

void reset(Values& values, const char* name) { values[name] = default_of(*find_option(name)); }

void settle_exclusive(Values& values, const char* one, const char* other) {
  const Source first = values[one].source;
  const Source second = values[other].source;
  if (first == Source::default_value || second == Source::default_value) return;
  if (first == second) {
    throw UsageError(values[one].where + " and " + values[other].where + " cannot both be given");
  }
  reset(values, first < second ? one : other);
}

// A learning rate or a momentum belongs to the optimizer that its own source knew of.
void drop_other_optimizers_settings(Values& values, const Sources& sources,
                                    std::vector<std::string>& notes) {
  const std::string optimizer = values["optimizer"].value.get<std::string>();
  for (const char* name : {"lr", "momentum", "nesterov", "weight-decay", "beta1", "beta2", "eps"}) {
    const ResolvedValue setting = values[name];
    if (setting.source == Source::default_value) continue;
    const ResolvedValue meant = sources.value(*find_option("optimizer"), setting.source);
    if (meant.source == Source::default_value || meant.value == optimizer) continue;
    reset(values, name);
    notes.push_back(setting.where + " is meant for " + meant.value.get<std::string>() +
                    " and left out: the optimizer is " + optimizer);
  }
}

}  // namespace

std::string_view name_of(Source source) {
  switch (source) {
    case Source::default_value:
      return "default";
    case Source::config:
      return "config";
    case Source::environment:
      return "environment";
    case Source::flag:
      return "flag";
  }
  return "unknown";
}

ResolvedOptions resolve(const GivenFlags& flags, const Environment& environment) {
  const Sources sources(flags, environment);
  ResolvedOptions resolved;
  resolved.config_name_ = sources.config_name();
  for (const OptionSpec& option : option_table()) {
    resolved.values_[option.name] = sources.value(option);
  }
  settle_exclusive(resolved.values_, "seed", "seeds");
  settle_exclusive(resolved.values_, "clip-norm", "clip-value");
  drop_other_optimizers_settings(resolved.values_, sources, resolved.notes_);
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
    if (option.is_hidden && value.source == Source::default_value) continue;
    document[config_key(option)] = {{"value", value.value}, {"source", name_of(value.source)}};
  }
  return document;
}

}  // namespace precbench
