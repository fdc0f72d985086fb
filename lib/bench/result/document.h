// The result file in memory (docs/result-file.md, schema/result.schema.json). What the coordinator
// decides on is typed; tool, invocation, protocol and environment are carried as JSON objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/fields.h"
#include "common/json_fields.h"
#include "common/modes.h"
#include "common/run_record.h"

namespace precbench {

inline constexpr std::string_view kSchemaVersion = "1.0.0";

// How a device computes a mode's number format (bench/platform/verdict.h).
enum class SupportLevel { native, no_fast_path, emulated, unsupported };
template <>
inline constexpr std::array<std::string_view, 4> kWordsOf<SupportLevel> = {
    "native", "no_fast_path", "emulated", "unsupported"};

// What this device does with a mode, known before it runs.
struct Support {
  SupportLevel verdict = SupportLevel::unsupported;
  std::string why;  // "native from Ampere (8.0)"
};

template <>
inline constexpr auto kFields<Support> =
    std::tuple{Field{"verdict", &Support::verdict}.required(), Field{"why", &Support::why}};

struct PilotRecord {
  int64_t steps = 0;
  std::optional<double> projected_s;  // of one whole run
  std::optional<int64_t> peak_allocated_bytes;
  // Of the reference's pilot, to be compared with the first steps of its run (repeatability.h);
  // nothing for other modes.
  std::optional<int64_t> seed;
  Samples loss_trace;
  Unknowns unknown;
};

template <>
inline constexpr auto kFields<PilotRecord> =
    std::tuple{Field{"steps", &PilotRecord::steps},
               Field{"projected_s", &PilotRecord::projected_s},
               Field{"peak_allocated_bytes", &PilotRecord::peak_allocated_bytes},
               Field{"seed", &PilotRecord::seed}.left_out_if_empty(),
               Field{"loss_trace", &PilotRecord::loss_trace}.left_out_if_empty(),
               Field{"unknown", &PilotRecord::unknown}};

// What a row may not be used for, and why.
struct Mark {
  std::string id;  // a row of kMarks (bench/judge/marks.h), or one of a later version's
  std::string why;
  // The most of the mode's time that what it marks can have cost, as a share; nothing where there
  // is no bound. Worked out from the runs (assign_marks), not stored.
  std::optional<double> lost = std::nullopt;
};

template <>
inline constexpr auto kFields<Mark> =
    std::tuple{Field{"id", &Mark::id}.required(), Field{"why", &Mark::why}};

// The highest rate that a mode's number format reaches on the device, as far as it is known.
struct Ceiling {
  double tflops = 0;
  std::string format;  // float32, bfloat16, ...
  std::string source;  // precbench probe | data sheet
};

template <>
inline constexpr auto kFields<Ceiling> =
    std::tuple{Field{"tflops", &Ceiling::tflops}.from(0).required(),
               Field{"format", &Ceiling::format}, Field{"source", &Ceiling::source}};

// --batch-size max: what the mode trained with.
struct OwnBatch {
  int64_t batch_size = 0;            // the largest that fits
  std::optional<int64_t> too_large;  // the next, which does not
  double lr = 0;                     // by --lr-scale
  Unknowns unknown;
};
template <>
inline constexpr auto kFields<OwnBatch> =
    std::tuple{Field{"batch_size", &OwnBatch::batch_size}.from(1).required(),
               Field{"too_large", &OwnBatch::too_large}, Field{"lr", &OwnBatch::lr}.required(),
               Field{"unknown", &OwnBatch::unknown}};

struct ModeRecord {
  std::string mode;            // name of the row: the mode asked for, and its engine (engines.h)
  std::string effective_mode;  // as run
  Status status = Status::ok;  // the first run's that is not ok
  std::optional<std::string> reason;
  std::optional<Support> support;
  std::optional<PilotRecord> pilot;
  std::optional<Ceiling> ceiling;
  std::optional<OwnBatch> own_batch;
  RecipeRecord recipe;
  std::vector<Mark> marks;
  std::vector<RunRecord> runs;
  std::vector<std::string> notes;  // sentences about this mode for the notes column and footnotes
};

template <>
inline constexpr auto kFields<ModeRecord> =
    std::tuple{Field{"mode", &ModeRecord::mode}.required(),
               Field{"effective_mode", &ModeRecord::effective_mode},
               Field{"status", &ModeRecord::status}.required(),
               Field{"reason", &ModeRecord::reason},
               Field{"support", &ModeRecord::support},
               Field{"pilot", &ModeRecord::pilot},
               Field{"ceiling", &ModeRecord::ceiling},
               Field{"own_batch", &ModeRecord::own_batch}.left_out_if_empty(),
               Field{"recipe", &ModeRecord::recipe},
               Field{"marks", &ModeRecord::marks},
               Field{"runs", &ModeRecord::runs},
               Field{"notes", &ModeRecord::notes}};

// The reason of a row that --shard leaves to others.
inline constexpr const char* kInAnotherPart = "in another part (--shard)";

struct ResultDocument {
  std::string schema_version{kSchemaVersion};
  json tool = json::object();
  json invocation = json::object();
  json protocol = json::object();
  json environment = json::object();
  std::vector<ModeRecord> modes;
  std::string reference;  // the mode that others are compared with; empty when no run is ok
  json gate;              // null without --fail-on
};

// Derived figures (`summary`, `relative`) are computed here, not stored in ResultDocument.
json to_json(const ResultDocument& document);

// Throws FileError (exit code 5) with one clear line: not JSON, another major version, a member of
// the wrong type (named by its path), nesting or size beyond any result file.
ResultDocument load_result(const std::string& path);

// Writes to a temporary file beside `path`, fsyncs and renames: a reader never sees half a file.
// Throws FileError naming the path and the system's reason.
void save_result(const ResultDocument& document, const std::string& path);

// The same under a name that nobody else has: `stem`.json, else `stem`-2.json and so on. Returns
// the path.
std::string save_new_result(const ResultDocument& document, const std::string& stem);

}  // namespace precbench
