// What `precbench run` is going to do, decided before anything runs: the resolved options in the
// shape that the session (bench/run/) needs. Options that only the worker reads live in the job
// template.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/export.h"
#include "bench/result/document.h"
#include "common/engines.h"
#include "common/job.h"
#include "common/modes.h"

namespace precbench {

enum class Order { given, rotate, random };
template <>
inline constexpr std::array<std::string_view, 3> kWordsOf<Order> = {"given", "rotate", "random"};

enum class EmulatedModes { run, skip };
template <>
inline constexpr std::array<std::string_view, 2> kWordsOf<EmulatedModes> = {"run", "skip"};

enum class ColorChoice { automatic, always, never };
template <>
inline constexpr std::array<std::string_view, 3> kWordsOf<ColorChoice> = {"auto", "always",
                                                                          "never"};

enum class ProgressChoice { automatic, plain, none };
template <>
inline constexpr std::array<std::string_view, 3> kWordsOf<ProgressChoice> = {"auto", "plain",
                                                                             "none"};

// A mode's learning rate where its batch is not the reference's: by their ratio, or its root.
enum class LrScale { none, linear, sqrt };
template <>
inline constexpr std::array<std::string_view, 3> kWordsOf<LrScale> = {"none", "linear", "sqrt"};

// --batch-size, and protocol.batch_size
inline constexpr const char* kLargestBatch = "max";

struct OutputPlan {
  std::string format = "text";  // text | report | table | markdown | csv | json | none
  std::vector<ExportFile> exports;
  ColorChoice color = ColorChoice::automatic;
  ProgressChoice progress = ProgressChoice::automatic;
  bool quiet = false;
  bool verbose = false;  // also what the worker says
  bool events = false;   // and what it does
  std::string log_file;  // all of that with times; empty = none
};

struct GatePlan {
  std::string baseline;              // result file; empty = none
  std::vector<std::string> fail_on;  // rules as written: "time:5%", "time[16-mixed]:10%"
  bool strict = false;
};

// Rates of an fp32 linear layer on this CPU, in TFLOP/s.
struct GemmRates {
  double by_default = 0;         // PyTorch's own choice
  std::optional<double> onednn;  // nothing where this LibTorch has it not
};

// Seconds of forward and backward of the model on a few samples.
struct AttentionTimes {
  double by_default = 0;  // PyTorch's own choice of a kernel
  double by_math = 0;     // separate products
};

// One row of a comparison.
struct PlannedRow {
  PlannedRow(const ModeTraits* its_mode, std::string_view its_engine = kLibtorchEngine)
      : mode(its_mode), engine(its_engine) {}
  std::string name() const { return row_name(mode->name, engine); }
  bool operator==(const PlannedRow&) const = default;

  const ModeTraits* mode;
  std::string engine;
};

// --shard 2/8: the runs that this process does, of a comparison that several share.
struct Shard {
  int64_t index = 1, count = 1;
};

// Which of several processes this one is that somebody else started (bench/plan/launch.h).
struct Launch {
  int64_t rank = 0, size = 1;
  int64_t local_size = 1;  // on this machine
  std::string place;       // where their workers meet
};

struct Plan {
  std::string title;  // "fashion-cnn: cnn, fashion-mnist, batch 128, SGD, 1 epoch, ..."
  std::vector<const ModeTraits*> modes;  // in the order asked for, no duplicates
  bool native_modes_only = false;  // --modes native: drop what the verdict does not call native
  const ModeTraits* reference = nullptr;  // --reference, else 32-true if asked for, else the first
  std::vector<std::string> engines = {std::string(kLibtorchEngine)};  // in the order asked for
  std::string reference_engine{kLibtorchEngine};
  std::vector<uint32_t> seeds;
  int64_t repeats = 1;
  Order order = Order::given;
  Shard shard;
  Launch launch;
  bool reference_first = false;    // nobody said in which order the modes are to run
  std::string profile = "fabric";  // fabric | tuned
  std::string device = "auto";     // auto | cpu | cuda | cuda:i | simulated:name
  int64_t threads = 1;
  // Everything but mode and seed. resolve_for_device decides where memory_format and gemm are
  // "auto", job_for where optimizer.impl and attention are, which depend on the mode.
  TrainJob job;
  bool own_batches = false;  // each row trains at the largest batch that fits it
  LrScale lr_scale = LrScale::none;
  std::map<std::string, OwnBatch> batches;  // of rows, once they are found
  std::optional<GemmRates> gemm_rates;      // what `auto` was decided by; nothing: not measured
  std::string gemm_rates_unknown;           // why they are wanted and not known
  // What `auto` was decided by, for each format that was measured.
  std::map<Dtype, AttentionTimes> attention_times;
  std::optional<double> timeout_s;  // per run
  int64_t pilot_steps = 3;          // 0 = no pilots
  std::optional<double> budget_s;   // modes projected over it are skipped
  EmulatedModes emulated = EmulatedModes::run;
  std::string results_dir = "results";
  bool save = true;
  // A run leaves a checkpoint every so many steps or seconds; 0 = not by these.
  int64_t checkpoint_steps = 0;
  double checkpoint_s = 0;
  bool has_checkpoints() const { return checkpoint_steps > 0 || checkpoint_s > 0; }
  std::string resume;  // result file to go on with; empty = none
  bool dry_run = false;
  bool find_max_batch = false;  // instead of training
  OutputPlan output;
  GatePlan gate;
  std::map<std::string, std::string> context;  // --context key=value, kept in invocation.context
  json config = json::object();                // invocation.config: {option: {value, source}}
  std::vector<std::string> argv;
  std::vector<std::string> warnings;  // told on stderr before the run (a discouraged alias, ...)
};

}  // namespace precbench
