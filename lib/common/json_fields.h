// Reading and writing JSON objects field by field, with errors that name the field.
// An unknown figure is null, and its reason stands in the object's "unknown" member (the result
// file's rule).
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace precbench {

using json = nlohmann::json;

// Why each null member of an object is null.
using Unknowns = std::map<std::string, std::string>;

// A member that is missing or of the wrong type; what() names its path.
class JsonFieldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// null for an absent value and for a number that JSON cannot hold (NaN, infinity).
template <typename T>
json nullable(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(*value)) return nullptr;
  }
  return *value;
}

// Reads members of one object; `path` is what error messages call it ("modes[0].runs[1]").
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string path);

  template <typename T>
  T required(const char* key) const {
    const json* member = find(key);
    if (member == nullptr || member->is_null()) fail(key, "is missing");
    return convert<T>(*member, key);
  }
  template <typename T>
  std::optional<T> optional(const char* key) const {
    const json* member = find(key);
    if (member == nullptr || member->is_null()) return std::nullopt;
    return convert<T>(*member, key);
  }
  template <typename T>
  T value_or(const char* key, T fallback) const {
    return optional<T>(key).value_or(std::move(fallback));
  }
  bool has(const char* key) const { return find(key) != nullptr; }
  const json* find(const char* key) const;     // null when absent
  ObjectReader object(const char* key) const;  // required object
  std::optional<ObjectReader> optional_object(const char* key) const;
  std::vector<ObjectReader> objects(const char* key) const;  // required array of objects
  Unknowns unknown() const;
  std::string path_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }
  const json& raw() const { return *object_; }
  [[noreturn]] void fail(const char* key, const std::string& what) const;

 private:
  template <typename T>
  T convert(const json& member, const char* key) const;

  const json* object_;
  std::string path_;
};

// The types that members may have; each conversion checks and names the member in its error.
using Samples = std::vector<std::optional<double>>;
template <>
std::string ObjectReader::convert<std::string>(const json& member, const char* key) const;
template <>
bool ObjectReader::convert<bool>(const json& member, const char* key) const;
template <>
double ObjectReader::convert<double>(const json& member, const char* key) const;
template <>
int64_t ObjectReader::convert<int64_t>(const json& member, const char* key) const;
template <>
std::vector<std::string> ObjectReader::convert<std::vector<std::string>>(const json& member,
                                                                         const char* key) const;
template <>
std::vector<int64_t> ObjectReader::convert<std::vector<int64_t>>(const json& member,
                                                                 const char* key) const;
template <>
Samples ObjectReader::convert<Samples>(const json& member, const char* key) const;

}  // namespace precbench
