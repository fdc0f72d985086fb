// Flag > environment > configuration file > default: each option's value and where it came from.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/plan/options.h"
#include "common/json_fields.h"

namespace precbench {

// Flags as given: name -> texts (several when it stands several times; "true" or "false" for a
// flag).
using GivenFlags = std::map<std::string, std::vector<std::string>>;
using Environment = std::function<const char*(const char*)>;  // std::getenv

// From weakest to strongest.
enum class Source { default_value, config, environment, flag };
std::string_view name_of(Source source);  // default | config | environment | flag

struct ResolvedValue {
  json value;  // null = none
  Source source = Source::default_value;
  std::string where;  // how errors name it: "--seed", "PRECBENCH_SEED", "quick.json: seed",
                      // "default of --seed"
};

class ResolvedOptions {
 public:
  const ResolvedValue& at(std::string_view name) const;
  bool is_given(std::string_view name) const { return at(name).source != Source::default_value; }
  bool has(std::string_view name) const { return !at(name).value.is_null(); }
  std::string text(std::string_view name) const;  // empty for none
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;  // 0 for none
  std::optional<double> number(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;

  // {option: {value, source}} for the result file, without hidden options.
  json as_json() const;
  std::string config_name() const { return config_name_; }  // "quick"; empty without --config
  // What was set and does not apply, and why.
  const std::vector<std::string>& notes() const { return notes_; }

  friend ResolvedOptions resolve(const GivenFlags& flags, const Environment& environment);

 private:
  std::map<std::string, ResolvedValue, std::less<>> values_;
  std::string config_name_;
  std::vector<std::string> notes_;
};

// Reads the configuration file that --config or PRECBENCH_CONFIG names. Throws UsageError for what
// is wrong with a value, a key, or the file.
//
// Of two options that exclude each other (seed and seeds, clip_norm and clip_value) the one from
// the stronger source holds; the same source for both is an error. lr, momentum, nesterov and
// weight_decay are dropped where a stronger source names another optimizer than theirs did:
// `--config fashion-cnn --optimizer adamw` trains with AdamW's own defaults.
//
// With --resume FILE the options that stand in the file take the place of environment and defaults;
// flags, and a configuration that a flag names, are stronger. Throws FileError for the file.
ResolvedOptions resolve(const GivenFlags& flags, const Environment& environment);

}  // namespace precbench
