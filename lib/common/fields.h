// One description of a record: a row for each member, beside the record itself. JSON both ways,
// what a value may be, the options that set members of a job, and the protocol follow from it.
//
//   template <>
//   inline constexpr auto kFields<ScheduleJob> = std::tuple{
//       Field{"warmup_steps", &ScheduleJob::warmup_steps}.from(0, kMaxCount).in_protocol(),
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace precbench {

// Whether a member is part of what makes two results comparable.
enum class InProtocol { no, always, if_set };  // if_set: where it is not the default

inline constexpr double kAnyNumber = std::numeric_limits<double>::infinity();

// What a member may hold, and what it is called where it stands outside its record.
struct Rule {
  double low = -kAnyNumber, high = kAnyNumber;
  std::string_view must_be;  // the error where it is out of range: "a fraction between 0 and 1"
  std::string_view words;    // of a text: those allowed, separated by spaces
  bool or_auto = false;
  InProtocol protocol = InProtocol::no;
  std::string_view why_null;  // in the protocol
  std::string_view name;      // of the option and in the protocol, where it is not the key
  bool is_required = false;   // in JSON
  bool is_left_out_if_empty = false;
};

template <typename Record, typename Member>
struct Field {
  constexpr Field(const char* its_key, Member Record::*its_member)
      : key(its_key), member(its_member) {}

  constexpr Field from(double low, double high = kAnyNumber, std::string_view must_be = {}) const {
    return with([&](Rule& its) { its.low = low, its.high = high, its.must_be = must_be; });
  }
  constexpr Field one_of(std::string_view words) const {
    return with([&](Rule& its) { its.words = words; });
  }
  // The option takes "auto", too, which the plan resolves.
  constexpr Field or_auto() const {
    return with([](Rule& its) { its.or_auto = true; });
  }
  constexpr Field called(std::string_view name) const {
    return with([&](Rule& its) { its.name = name; });
  }
  constexpr Field in_protocol(std::string_view why_null = {}) const {
    return with([&](Rule& its) { its.protocol = InProtocol::always, its.why_null = why_null; });
  }
  constexpr Field in_protocol_if_set() const {
    return with([](Rule& its) { its.protocol = InProtocol::if_set; });
  }
  constexpr Field required() const {
    return with([](Rule& its) { its.is_required = true; });
  }
  constexpr Field left_out_if_empty() const {
    return with([](Rule& its) { its.is_left_out_if_empty = true; });
  }

  std::string_view name() const { return rule.name.empty() ? key : rule.name; }

  const char* key;  // in the record's JSON
  Member Record::*member;
  Rule rule = {};

 private:
  template <typename Change>
  constexpr Field with(const Change& change) const {
    Field changed = *this;
    change(changed.rule);
    return changed;
  }
};

// The rows of a record, specialised beside it.
template <typename Record>
inline constexpr auto kFields = nullptr;

template <typename T>
concept Described = !std::is_same_v<decltype(kFields<T>), const std::nullptr_t>;

// Calls `visit(field, value)` for each member.
template <typename Record, typename Visit>
void for_each_field(Record& record, Visit&& visit) {
  std::apply([&](const auto&... fields) { (visit(fields, record.*(fields.member)), ...); },
             kFields<std::remove_const_t<Record>>);
}

template <typename Record, typename Member>
const Field<Record, Member>& field_of(Member Record::*member) {
  const Field<Record, Member>* found = nullptr;
  const auto look_at = [&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field), const Field<Record, Member>&>) {
      if (field.member == member) found = &field;
    }
  };
  std::apply([&](const auto&... fields) { (look_at(fields), ...); }, kFields<Record>);
  return *found;
}

std::vector<std::string> split_words(std::string_view words);

// What is wrong with a value, as the end of a sentence that begins with its name; empty: nothing.
std::string broken(const Rule& rule, double value);
std::string broken(const Rule& rule, int64_t value);
std::string broken(const Rule& rule, const std::string& value);

template <typename T>
std::string broken(const Rule& rule, const T& value) {
  if constexpr (requires { *value; }) {
    return value ? broken(rule, *value) : "";
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    for (const int64_t element : value) {
      if (std::string what = broken(rule, element); !what.empty()) return what;
    }
  }
  return "";
}

}  // namespace precbench
