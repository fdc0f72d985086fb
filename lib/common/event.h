// What a worker tells its coordinator: JSON objects, one a line, on the worker's first stdout.
//
//   hello   always first
//   phase   load_data | build_model | train | evaluate
//   steps   at most 10 a second
//   epoch   an EpochRecord
//   result  exactly one of result and failed ends the stream
//   failed
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "common/json_fields.h"
#include "common/run_record.h"

namespace precbench {

struct HelloEvent {
  int64_t protocol = 0;
  std::string version;
  std::optional<std::string> git_sha;
  std::string libtorch = "unknown";
};

template <>
inline constexpr auto kFields<HelloEvent> =
    std::tuple{Field{"protocol", &HelloEvent::protocol}.required(),
               Field{"version", &HelloEvent::version}.required(),
               Field{"git_sha", &HelloEvent::git_sha}, Field{"libtorch", &HelloEvent::libtorch}};

struct PhaseEvent {
  std::string name;
};

template <>
inline constexpr auto kFields<PhaseEvent> = std::tuple{Field{"name", &PhaseEvent::name}.required()};

struct StepsEvent {
  int64_t epoch = 0;  // from 1
  int64_t epochs = 0;
  int64_t step = 0;            // optimizer steps done, over all epochs
  int64_t steps = 0;           // optimizer steps of the whole run
  std::optional<double> loss;  // latest known unscaled loss
};

template <>
inline constexpr auto kFields<StepsEvent> = std::tuple{
    Field{"epoch", &StepsEvent::epoch}.required(), Field{"epochs", &StepsEvent::epochs}.required(),
    Field{"step", &StepsEvent::step}.required(), Field{"steps", &StepsEvent::steps}.required(),
    Field{"loss", &StepsEvent::loss}};

using EpochEvent = EpochRecord;

// `describe`, `probe` and `gemm` fill `facts`; `train` fills `train`.
struct ResultEvent {
  json facts;
  std::optional<TrainResult> train;
};

template <>
inline constexpr auto kFields<ResultEvent> =
    std::tuple{Field{"facts", &ResultEvent::facts}.left_out_if_empty(),
               Field{"train", &ResultEvent::train}.left_out_if_empty()};

// peer: another rank is gone, whose failure tells why.
enum class FailureKind { oom, unsupported, input, error, peer };
template <>
inline constexpr std::array<std::string_view, 5> kWordsOf<FailureKind> = {"oom", "unsupported",
                                                                          "input", "error", "peer"};

struct FailedEvent {
  FailureKind kind = FailureKind::error;
  std::string message;
};

template <>
inline constexpr auto kFields<FailedEvent> =
    std::tuple{Field{"kind", &FailedEvent::kind}.required(),
               Field{"message", &FailedEvent::message}.required()};

using Event =
    std::variant<HelloEvent, PhaseEvent, StepsEvent, EpochEvent, ResultEvent, FailedEvent>;

json to_json(const Event& event);

// Throws JsonFieldError on an unknown type or a missing or wrong member.
Event event_from_json(const json& document);

}  // namespace precbench
