#include "common/json_fields.h"

namespace precbench {

ObjectReader::ObjectReader(const json& object, std::string path)
    : object_(&object), path_(std::move(path)) {
  if (!object.is_object()) {
    throw JsonFieldError((path_.empty() ? "the document" : path_) + " must be an object, not " +
                         object.type_name());
  }
}

const json* ObjectReader::find(const char* key) const {
  const auto member = object_->find(key);
  return member == object_->end() ? nullptr : &*member;
}

void ObjectReader::fail(const char* key, const std::string& what) const {
  throw JsonFieldError(path_of(key) + " " + what);
}

ObjectReader ObjectReader::object(const char* key) const {
  const json* member = find(key);
  if (member == nullptr) fail(key, "is missing");
  return {*member, path_of(key)};
}

std::optional<ObjectReader> ObjectReader::optional_object(const char* key) const {
  const json* member = find(key);
  if (member == nullptr || member->is_null()) return std::nullopt;
  return ObjectReader(*member, path_of(key));
}

std::vector<ObjectReader> ObjectReader::objects(const char* key) const {
  const json* member = find(key);
  if (member == nullptr) fail(key, "is missing");
  if (!member->is_array()) fail(key, std::string("must be an array, not ") + member->type_name());
  std::vector<ObjectReader> readers;
  for (size_t i = 0; i < member->size(); ++i) {
    readers.emplace_back((*member)[i], path_of(key) + "[" + std::to_string(i) + "]");
  }
  return readers;
}

Unknowns ObjectReader::unknown() const {
  Unknowns reasons;
  if (const json* member = find("unknown"); member != nullptr && !member->is_null()) {
    if (!member->is_object()) fail("unknown", "must be an object of reasons");
    for (const auto& [key, reason] : member->items()) {
      if (!reason.is_string()) fail("unknown", "must hold texts; '" + key + "' is not one");
      reasons[key] = reason.get<std::string>();
    }
  }
  return reasons;
}

template <>
std::string ObjectReader::convert<std::string>(const json& member, const char* key) const {
  if (!member.is_string()) fail(key, std::string("must be a text, not ") + member.type_name());
  return member.get<std::string>();
}

template <>
bool ObjectReader::convert<bool>(const json& member, const char* key) const {
  if (!member.is_boolean())
    fail(key, std::string("must be true or false, not ") + member.type_name());
  return member.get<bool>();
}

template <>
double ObjectReader::convert<double>(const json& member, const char* key) const {
  if (!member.is_number()) fail(key, std::string("must be a number, not ") + member.type_name());
  const double value = member.get<double>();
  if (!std::isfinite(value)) fail(key, "must be a finite number");
  return value;
}

template <>
int64_t ObjectReader::convert<int64_t>(const json& member, const char* key) const {
  if (!member.is_number_integer()) {
    fail(key, std::string("must be a whole number, not ") +
                  (member.is_number() ? "a fraction" : member.type_name()));
  }
  if (member.is_number_unsigned() && member.get<uint64_t>() > uint64_t{INT64_MAX})
    fail(key, "is too large");
  return member.get<int64_t>();
}

template <>
std::vector<std::string> ObjectReader::convert<std::vector<std::string>>(const json& member,
                                                                         const char* key) const {
  if (!member.is_array())
    fail(key, std::string("must be an array of texts, not ") + member.type_name());
  std::vector<std::string> texts;
  for (const json& element : member) texts.push_back(convert<std::string>(element, key));
  return texts;
}

template <>
std::vector<int64_t> ObjectReader::convert<std::vector<int64_t>>(const json& member,
                                                                 const char* key) const {
  if (!member.is_array())
    fail(key, std::string("must be an array of numbers, not ") + member.type_name());
  std::vector<int64_t> values;
  for (const json& element : member) values.push_back(convert<int64_t>(element, key));
  return values;
}

// Samples and traces: null marks a value that was not finite.
template <>
Samples ObjectReader::convert<Samples>(const json& member, const char* key) const {
  if (!member.is_array())
    fail(key, std::string("must be an array of numbers, not ") + member.type_name());
  Samples values;
  values.reserve(member.size());
  for (const json& element : member) {
    values.push_back(element.is_null() ? std::nullopt
                                       : std::optional(convert<double>(element, key)));
  }
  return values;
}

}  // namespace precbench
