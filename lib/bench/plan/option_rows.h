// How the rows of the option table are made: what an option's value may be, its name and its
// default follow from the field of the member that it sets.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/plan/options.h"
#include "bench/plan/plan.h"
#include "common/fields_json.h"
#include "common/suggest.h"

namespace precbench {

// The part of the plan that holds such a record.
template <typename Record>
Record& part_of(Plan& plan) {
  const auto parts = std::tie(plan, plan.output, plan.gate, plan.job, plan.job.dataset,
                              plan.job.optimizer, plan.job.schedule, plan.job.fp8);
  return std::get<Record&>(parts);
}

template <typename Member>
OptionType type_for(const Rule& rule) {
  if constexpr (std::is_same_v<Member, bool>) return OptionType::flag;
  if constexpr (std::is_same_v<Member, std::string>) {
    return rule.words.empty() ? OptionType::text : OptionType::choice;
  }
  if constexpr (HasWords<Member>) return OptionType::choice;
  if constexpr (std::is_integral_v<Member>) return OptionType::integer;
  if constexpr (std::is_same_v<Member, std::vector<int64_t>>) return OptionType::integers;
  if constexpr (std::is_same_v<Member, std::vector<std::string>>) return OptionType::repeatable;
  return OptionType::number;
}

// As a user would write it.
inline std::string text_of(const json& value) {
  if (value.is_string()) return value;
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  if (!value.is_array()) return value.is_null() ? "" : value.dump();
  std::string text;
  for (const json& element : value) text += (text.empty() ? "" : ",") + element.dump();
  return text;
}

inline void allow(OptionSpec& row, std::vector<std::string> words) {
  row.hint = joined(words, "|");
  row.allowed = std::move(words);
}

// Collects rows; what a function does not take is set on the row it returns.
class OptionTable {
 public:
  void begin(const char* group) { group_ = group; }

  // Sets no member by itself.
  OptionSpec& add(std::string name, OptionType type, const char* hint, const char* default_text,
                  const char* help) {
    OptionSpec& row = rows_.emplace_back();
    row.name = std::move(name);
    row.type = type;
    row.hint = hint;
    row.default_text = default_text;
    row.group = group_;
    row.help = help;
    return row;
  }
  // Sets the member, whose field tells the name, the allowed values and the default.
  template <typename Record, typename Member>
  OptionSpec& add(const Field<Record, Member>& field, const char* help, const char* hint = "") {
    const Rule& rule = field.rule;
    std::string name(field.name());
    std::replace(name.begin(), name.end(), '_', '-');
    OptionSpec& row = add(name, type_for<Member>(rule), hint, "", help);
    row.default_text = rule.or_auto ? "auto" : text_of(json_of(Record().*(field.member)));
    if (std::isfinite(rule.low) && std::isfinite(rule.high)) {
      row.low = rule.low;
      row.high = rule.high;
    }
    if (row.type == OptionType::integer) row.hint = "N";
    if (row.type == OptionType::number) row.hint = "X";
    std::vector<std::string> words = split_words(rule.words);
    if constexpr (HasWords<Member>) words.assign(kWordsOf<Member>.begin(), kWordsOf<Member>.end());
    if (rule.or_auto) words.insert(words.begin(), "auto");
    if (!words.empty()) allow(row, std::move(words));
    row.set = [member = field.member](Plan& plan, const json& value) {
      Member& place = part_of<Record>(plan).*member;
      if constexpr (HasWords<Member>) {
        place = *find_word<Member>(value.get<std::string>());
      } else if constexpr (kIsOptional<Member>) {
        place = value.get<typename Member::value_type>();
      } else {
        place = value.get<Member>();
      }
    };
    return row;
  }
  // Of the job: its field stands beside it (common/job.h).
  template <typename Record, typename Member>
  OptionSpec& add(Member Record::*member, const char* help, const char* hint = "") {
    return add(field_of(member), help, hint);
  }
  OptionSpec& duration(const Field<Plan, std::optional<double>>& field, const char* help) {
    OptionSpec& row = add(field, help);
    row.type = OptionType::duration;
    row.hint = "90s|5m|1h";
    return row;
  }

  std::vector<OptionSpec> take() { return std::move(rows_); }

 private:
  std::vector<OptionSpec> rows_;
  const char* group_ = "";
};

}  // namespace precbench
