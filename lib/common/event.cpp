#include "common/event.h"

#include <array>
#include <utility>

namespace precbench {
namespace {

constexpr std::array<std::pair<FailureKind, std::string_view>, 4> kFailureNames = {{
    {FailureKind::oom, "oom"},
    {FailureKind::unsupported, "unsupported"},
    {FailureKind::input, "input"},
    {FailureKind::error, "error"},
}};

json fields(const HelloEvent& event) {
  return {{"type", "hello"},
          {"protocol", event.protocol},
          {"version", event.version},
          {"git_sha", nullable(event.git_sha)},
          {"libtorch", event.libtorch}};
}

json fields(const PhaseEvent& event) { return {{"type", "phase"}, {"name", event.name}}; }

json fields(const StepsEvent& event) {
  return {{"type", "steps"},    {"epoch", event.epoch}, {"epochs", event.epochs},
          {"step", event.step}, {"steps", event.steps}, {"loss", nullable(event.loss)}};
}

json fields(const EpochEvent& event) {
  json document = to_json(event.epoch);
  document["type"] = "epoch";
  return document;
}

json fields(const ResultEvent& event) {
  json document = {{"type", "result"}};
  if (event.train) document["train"] = to_json(*event.train);
  if (!event.facts.is_null()) document["facts"] = event.facts;
  return document;
}

json fields(const FailedEvent& event) {
  return {{"type", "failed"}, {"kind", name_of(event.kind)}, {"message", event.message}};
}

HelloEvent hello_from(const ObjectReader& reader) {
  return {reader.required<int64_t>("protocol"), reader.required<std::string>("version"),
          reader.optional<std::string>("git_sha"),
          reader.value_or<std::string>("libtorch", "unknown")};
}

StepsEvent steps_from(const ObjectReader& reader) {
  return {reader.required<int64_t>("epoch"), reader.required<int64_t>("epochs"),
          reader.required<int64_t>("step"), reader.required<int64_t>("steps"),
          reader.optional<double>("loss")};
}

ResultEvent result_from(const ObjectReader& reader) {
  ResultEvent event;
  if (const json* facts = reader.find("facts")) event.facts = *facts;
  if (const auto train = reader.optional_object("train"))
    event.train = train_result_from_json(*train);
  return event;
}

FailedEvent failed_from(const ObjectReader& reader) {
  const auto kind = reader.required<std::string>("kind");
  for (const auto& [value, name] : kFailureNames) {
    if (name == kind) return {value, reader.required<std::string>("message")};
  }
  reader.fail("kind", "'" + kind + "' is not oom, unsupported, input or error");
}

}  // namespace

std::string_view name_of(FailureKind kind) {
  for (const auto& [value, name] : kFailureNames) {
    if (value == kind) return name;
  }
  return "error";
}

json to_json(const Event& event) {
  return std::visit([](const auto& alternative) { return fields(alternative); }, event);
}

Event event_from_json(const json& document) {
  const ObjectReader reader(document, "");
  const auto type = reader.required<std::string>("type");
  if (type == "hello") return hello_from(reader);
  if (type == "phase") return PhaseEvent{reader.required<std::string>("name")};
  if (type == "steps") return steps_from(reader);
  if (type == "epoch") return EpochEvent{epoch_record_from_json(reader)};
  if (type == "result") return result_from(reader);
  if (type == "failed") return failed_from(reader);
  reader.fail("type", "'" + type + "' is not an event");
}

}  // namespace precbench
