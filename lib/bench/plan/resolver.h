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

// Flags as given: name -> texts (several for a repeatable option; "true" for a flag).
using GivenFlags = std::map<std::string, std::vector<std::string>>;
using Environment = std::function<const char*(const char*)>;  // std::getenv

struct ResolvedValue {
  json value;          // null = none
  std::string source;  // flag | environment | config | default
  std::string where;   // how errors name it: "--seed", "PRECBENCH_SEED", "quick.json: seed",
                       // "default of --seed"
};

class ResolvedOptions {
 public:
  const ResolvedValue& at(std::string_view name) const;
  bool is_given(std::string_view name) const { return at(name).source != "default"; }
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

  friend ResolvedOptions resolve(const GivenFlags& flags, const Environment& environment);

 private:
  std::map<std::string, ResolvedValue, std::less<>> values_;
  std::string config_name_;
};

// Reads the configuration file that --config or PRECBENCH_CONFIG names. Throws UsageError for what
// is wrong with a value, a key, or the file.
ResolvedOptions resolve(const GivenFlags& flags, const Environment& environment);

}  // namespace precbench
