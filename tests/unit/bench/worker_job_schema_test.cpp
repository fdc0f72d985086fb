// The worker in Python reads what a job may hold, and the defaults of what it leaves out, from
// job.schema.json. This test compares it with the description in common/job.h, and with
// PRECBENCH_UPDATE_DOCS=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "../places.h"
#include "common/fields_json.h"
#include "common/job.h"

namespace precbench::worker_job_schema_test {
namespace {

template <typename Record>
json schema_of();

void add_range(json& schema, const Rule& rule) {
  if (rule.low != -kAnyNumber) schema["minimum"] = rule.low;
  if (rule.high != kAnyNumber) schema["maximum"] = rule.high;
}

template <typename T>
json schema_of(const Rule& rule, const T& value) {
  if constexpr (Described<T>) {
    return schema_of<T>();
  } else if constexpr (kIsOptional<T>) {
    json schema = schema_of(rule, typename T::value_type{});
    schema["type"] = {schema["type"], "null"};
    schema["default"] = nullptr;
    return schema;
  } else if constexpr (kIsVector<T>) {
    json items = schema_of(rule, typename T::value_type{});
    items.erase("default");
    json schema = {{"type", "array"}, {"items", items}};
    if (value.empty()) return schema;
    schema["minItems"] = schema["maxItems"] = value.size();
    schema["default"] = value;
    return schema;
  } else if constexpr (std::is_same_v<T, json>) {
    return {{"type", "object"}, {"default", value}};
  } else {
    json schema = {{"default", value}};
    if constexpr (std::is_same_v<T, bool>) {
      schema["type"] = "boolean";
    } else if constexpr (std::is_same_v<T, std::string>) {
      schema["type"] = "string";
      if (!rule.words.empty()) schema["enum"] = split_words(rule.words);
    } else {
      schema["type"] = std::is_integral_v<T> ? "integer" : "number";
      add_range(schema, rule);
      if constexpr (std::is_unsigned_v<T>) {
        schema["minimum"] = 0;
        schema["maximum"] = std::numeric_limits<T>::max();
      }
    }
    return schema;
  }
}

template <typename Record>
json schema_of() {
  json members = json::object();
  const Record defaults;
  for_each_field(defaults, [&](const auto& field, const auto& value) {
    members[field.key] = schema_of(field.rule, value);
  });
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", members}};
}

json job_schema() {
  json kinds = kWordsOf<JobKind>;
  const Job job;
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "The job that a worker reads from its standard input"},
          {"type", "object"},
          {"required", {"kind"}},
          {"additionalProperties", false},
          {"properties",
           {{"kind", {{"type", "string"}, {"enum", kinds}}},
            {"device", {{"type", "string"}, {"default", job.device}}},
            {"threads", {{"type", "integer"}, {"minimum", 1}, {"default", job.threads}}},
            {"parent_pid", {{"type", "integer"}, {"minimum", 0}, {"default", job.parent_pid}}},
            {"rank", {{"type", "integer"}, {"minimum", 0}, {"default", job.rank}}},
            {"meeting", {{"type", "string"}, {"default", job.meeting}}},
            {"rank_timeout_s",
             {{"type", "number"}, {"exclusiveMinimum", 0}, {"default", job.rank_timeout_s}}},
            {"train", schema_of<TrainJob>()},
            {"predict", {{"type", "object"}}}}}};
}

TEST(JobSchema, IsThatOfTheJob) {
  const std::string path = source_dir() + "/python/precbench_fabric/job.schema.json";
  const char* update = std::getenv("PRECBENCH_UPDATE_DOCS");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path) << job_schema().dump(1) << "\n";
  }
  std::ifstream file(path);
  EXPECT_EQ(json::parse(file), job_schema())
      << "PRECBENCH_UPDATE_DOCS=1 writes " << path << " anew";
}

}  // namespace
}  // namespace precbench::worker_job_schema_test
