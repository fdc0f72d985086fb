// JSON of the records that common/fields.h describes, in both directions.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/enum_words.h"
#include "common/fields.h"
#include "common/json_fields.h"

namespace precbench {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// null for what is absent, and for a number that JSON cannot hold.
template <typename T>
json json_of(const T& value) {
  if constexpr (Described<T>) {
    json object = json::object();
    for_each_field(value, [&](const auto& field, const auto& member) {
      if (json of_member = json_of(member);
          !field.rule.is_left_out_if_empty || !(of_member.is_null() || of_member.empty())) {
        object[field.key] = std::move(of_member);
      }
    });
    return object;
  } else if constexpr (kIsOptional<T>) {
    return value ? json_of(*value) : json(nullptr);
  } else if constexpr (kIsVector<T>) {
    json array = json::array();
    for (const auto& element : value) array.push_back(json_of(element));
    return array;
  } else if constexpr (HasWords<T>) {
    return name_of(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? json(value) : json(nullptr);
  } else {
    return value;
  }
}

template <typename Record>
void read_fields(const ObjectReader& reader, Record& record);

// One member that is there.
template <typename T>
T read_present(const ObjectReader& reader, const char* key) {
  if constexpr (Described<T>) {
    T record;
    read_fields(reader.object(key), record);
    return record;
  } else if constexpr (HasWords<T>) {
    const auto word = reader.required<std::string>(key);
    if (const auto value = find_word<T>(word)) return *value;
    reader.fail(key, "'" + word + "' is not " + all_words<T>());
  } else if constexpr (std::is_same_v<T, json>) {
    return reader.object(key).raw();
  } else if constexpr (std::is_same_v<T, Unknowns>) {
    return reader.unknown();
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    const auto number = reader.required<int64_t>(key);
    if (number < 0 || number > std::numeric_limits<uint32_t>::max()) {
      reader.fail(key, "must be between 0 and 4294967295");
    }
    return static_cast<uint32_t>(number);
  } else {
    return reader.required<T>(key);
  }
}

template <typename T>
void read_field(const ObjectReader& reader, const char* key, const Rule& rule, T& value) {
  const json* member = reader.find(key);
  if (member == nullptr || member->is_null()) {
    if (rule.is_required) reader.fail(key, "is missing");
    return;
  }
  if constexpr (kIsOptional<T>) {
    value = read_present<typename T::value_type>(reader, key);
  } else if constexpr (Described<T>) {
    read_fields(reader.object(key), value);
  } else {
    value = read_present<T>(reader, key);
  }
  if (const std::string what = broken(rule, value); !what.empty()) reader.fail(key, what);
}

template <typename T>
requires Described<T>
void read_field(const ObjectReader& reader, const char* key, const Rule& /*rule*/,
                std::vector<T>& values) {
  if (!reader.has(key)) return;
  for (const ObjectReader& element : reader.objects(key))
    read_fields(element, values.emplace_back());
}

// Members that are absent or null keep their value. Throws JsonFieldError naming what is missing,
// of the wrong type or not allowed.
template <typename Record>
void read_fields(const ObjectReader& reader, Record& record) {
  for_each_field(record, [&](const auto& field, auto& member) {
    read_field(reader, field.key, field.rule, member);
  });
}

template <typename Record>
Record record_from(const ObjectReader& reader) {
  Record record;
  read_fields(reader, record);
  return record;
}

}  // namespace precbench
