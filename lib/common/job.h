// What the coordinator asks of a worker: one JSON object on the worker's stdin, one job per
// process. The worker answers with events (common/event.h). A worker is usable by itself:
// precbench-worker < job.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json_fields.h"

namespace precbench {

// Raised when a member of Job or an event changes its meaning. A worker of another protocol is
// refused.
inline constexpr int64_t kProtocolVersion = 1;

enum class JobKind { describe, probe, gemm, attention, train, predict };

// Where the samples come from. `name` is a row of kDatasets (common/names.h).
struct DatasetJob {
  std::string name = "fashion-mnist";
  std::string dir;          // folder of the files, or the file itself; empty for synthetic
  int64_t limit_train = 0;  // samples; 0 = all
  int64_t limit_test = 0;
  int64_t image_size = 0;                              // pixels; 0 = as in the files
  std::vector<int64_t> synthetic_shape = {1, 28, 28};  // channels, height, width
  int64_t synthetic_classes = 10;
  int64_t synthetic_train = 10000;  // samples
  int64_t synthetic_test = 2000;
  bool augment = false;  // random crop and flip
  int64_t context = 0;   // of a text: bytes per sequence; 0 = the data are images
};

struct OptimizerJob {
  std::string name = "sgd";   // sgd | adam | adamw
  std::string impl = "loop";  // loop | foreach | fused; the planner resolves "auto"
  double lr = 0.05;
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  std::optional<double> clip_norm;
  std::optional<double> clip_value;
  int64_t accumulate = 1;  // micro-batches per optimizer step
};

struct ScheduleJob {
  std::string name = "constant";  // constant | cosine | step
  int64_t warmup_steps = 0;
  std::string on_skip =
      "follow";  // follow | hold: does a skipped scaler step advance the schedule?
};

// How FP8 numbers are scaled in the transformer-engine modes; the defaults are those of Transformer
// Engine's DelayedScaling, which Lightning Fabric passes. The last three belong to `delayed`.
struct Float8Job {
  std::string recipe = "delayed";  // delayed | dynamic
  int64_t margin = 0;              // scales are divided by 2^margin
  int64_t history = 1024;          // passes that amax is remembered for
  std::string amax = "max";        // of the history: max | most_recent
};

// cuBLASLt wants every dimension that FP8 products sum over or store to be a multiple of this;
// others are padded with zeros.
inline constexpr int64_t kFloat8Multiple = 16;

// The members that take effect, as results tell them.
json recipe_json(const Float8Job& job);

// One mode, one seed. Members have the names of the result file's `protocol`.
struct TrainJob {
  std::string mode = "32-true";
  uint32_t seed = 42;
  std::string model = "cnn";
  std::string model_file;               // TorchScript module, where model is torchscript
  json model_options = json::object();  // model-specific sizes, e.g. {"layers": 4} for gpt
  DatasetJob dataset;
  int64_t batch_size = 128;
  int64_t epochs = 1;
  int64_t steps = 0;       // optimizer steps in all; 0 = whole epochs
  int64_t eval_every = 1;  // epochs; 0 = after the last one only
  OptimizerJob optimizer;
  ScheduleJob schedule;
  double label_smoothing = 0.0;
  std::string init = "fp32";  // fp32 | module
  std::string init_weights;   // file of a state dictionary, or empty
  std::string save_weights;
  std::string dump_trace;
  int64_t dump_trace_weights_every = 0;  // steps between checksums of the weights; 0 = none
  bool loss_autocast = false;
  std::string memory_format = "contiguous";  // contiguous | channels_last
  std::string tf32 = "default";              // default | off | on
  std::string cpu_fp16 = "real";             // real | fabric
  std::string deterministic = "auto";        // auto | on | off
  std::string gemm = "default";              // default | onednn; the planner resolves "auto"
  // default: the kernel that PyTorch takes; math: two products and a softmax between them, as
  // SDPBackend.MATH in Python
  std::string attention = "default";
  Float8Job fp8;
  bool tuned_malloc = false;  // the `tuned` profile's malloc settings
  bool cuda_graph = false;
  bool cudnn_benchmark = false;
  bool keep_going = false;         // train on after the run has diverged
  int64_t memory_limit_bytes = 0;  // 0 = none; an allocation over it is an out-of-memory error
  // A pilot trains `steps` steps, ends with the first step that finishes after pilot_limit_s, then
  // evaluates one batch; the coordinator projects time and memory of the whole run from it.
  bool pilot = false;
  double pilot_limit_s = 20.0;
  // Test hook: the gradients of this optimizer step (from 0) get an infinity; -1 = never.
  int64_t inject_inf_at_step = -1;
};

// Memory of the train job's steps on simulated cards (rows of kGpuCards), in several modes.
struct PredictJob {
  std::vector<std::string> gpus, modes;
  bool find_max_batch = false;
};

struct Job {
  JobKind kind = JobKind::describe;
  std::string device = "cpu";  // cpu | cuda:0 | simulated:t4
  int64_t threads = 1;
  int64_t parent_pid = 0;  // 0 = no parent to follow
  TrainJob train;          // used when kind is train or predict
  PredictJob predict;      // used when kind is predict
};

std::string_view name_of(JobKind kind);

json to_json(const Job& job);

// Throws JsonFieldError naming the member that is missing, of the wrong type or not allowed.
Job job_from_json(const json& document);

}  // namespace precbench
