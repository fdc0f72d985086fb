// What a worker tells its coordinator: JSON objects, one a line, on the worker's first stdout.
//
//   hello   protocol, version, git_sha, libtorch          always first
//   phase   name                                           load_data | build_model | train |
//   evaluate steps   epoch, epochs, step, steps, loss               at most 10 a second; step
//   counts from 1 epoch   epoch, train_accuracy, test_accuracy, ...      an EpochRecord result  ...
//   exactly one of result and failed ends the stream failed  kind: oom | unsupported | input |
//   error; message
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
  std::string libtorch;
};

struct PhaseEvent {
  std::string name;
};

struct StepsEvent {
  int64_t epoch = 0;  // from 1
  int64_t epochs = 0;
  int64_t step = 0;            // optimizer steps done, over all epochs
  int64_t steps = 0;           // optimizer steps of the whole run
  std::optional<double> loss;  // latest known unscaled loss
};

struct EpochEvent {
  EpochRecord epoch;
};

// `describe`, `probe` and `gemm` fill `facts`; `train` fills `train`.
struct ResultEvent {
  json facts;
  std::optional<TrainResult> train;
};

enum class FailureKind { oom, unsupported, input, error };

struct FailedEvent {
  FailureKind kind = FailureKind::error;
  std::string message;
};

using Event =
    std::variant<HelloEvent, PhaseEvent, StepsEvent, EpochEvent, ResultEvent, FailedEvent>;

std::string_view name_of(FailureKind kind);

json to_json(const Event& event);

// Throws JsonFieldError on an unknown type or a missing or wrong member.
Event event_from_json(const json& document);

}  // namespace precbench
