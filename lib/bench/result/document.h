// The result file in memory (docs/result-file.md, schema/result.schema.json). What the coordinator
// decides on is typed; tool, invocation, protocol and environment are carried as JSON objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json_fields.h"
#include "common/modes.h"
#include "common/run_record.h"

namespace precbench {

inline constexpr std::string_view kSchemaVersion = "1.0.0";

// What this device does with a mode, known before it runs.
struct Support {
  std::string verdict;  // native | no_fast_path | emulated | unsupported
  std::string why;      // "native from Ampere (8.0)"
};

struct PilotRecord {
  int64_t steps = 0;
  std::optional<double> projected_s;  // of one whole run
  std::optional<int64_t> peak_allocated_bytes;
  // Of the reference's pilot, to be compared with the first steps of its run (repeatability.h);
  // empty for other modes.
  int64_t seed = 0;
  Samples loss_trace;
  Unknowns unknown;
};

// What a row may not be used for, and why.
struct Mark {
  std::string id;  // n=1 | emulated | at-chance | too-small | busy | throttled | drift | trend |
                   // ecc-errors | shared | debug-build | other-machine
  std::string why;
  // The most of the mode's time that what it marks can have cost, as a share; nothing where there
  // is no bound. Worked out from the runs (assign_marks), not stored.
  std::optional<double> lost = std::nullopt;
};

// The highest rate that a mode's number format reaches on the device, as far as it is known.
struct Ceiling {
  double tflops = 0;
  std::string format;  // float32, bfloat16, ...
  std::string source;  // precbench probe | data sheet
};

struct ModeRecord {
  std::string mode;            // as asked for, canonical name
  std::string effective_mode;  // as run
  Status status = Status::ok;  // the first run's that is not ok
  std::optional<std::string> reason;
  std::optional<Support> support;
  std::optional<PilotRecord> pilot;
  std::optional<Ceiling> ceiling;
  RecipeRecord recipe;
  std::vector<Mark> marks;
  std::vector<RunRecord> runs;
  std::vector<std::string> notes;  // sentences about this mode for the notes column and footnotes
};

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
