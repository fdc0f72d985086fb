// What the coordinator asks of a worker: one JSON object on the worker's stdin, one job per
// process. The worker answers with events (common/event.h). A worker is usable by itself:
// precbench-worker < job.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/enum_words.h"
#include "common/fields.h"
#include "common/json_fields.h"
#include "common/limits.h"

namespace precbench {

// Raised when a member of Job or an event changes its meaning. A worker of another protocol is
// refused.
inline constexpr int64_t kProtocolVersion = 1;

enum class JobKind { describe, probe, gemm, attention, train, predict };
template <>
inline constexpr std::array<std::string_view, 6> kWordsOf<JobKind> = {
    "describe", "probe", "gemm", "attention", "train", "predict"};

inline constexpr double kMaxCount = 1e9;          // samples, steps, epochs: nothing real is larger
inline constexpr double kMaxSeed = 4294967295.0;  // as lightning.seed_everything
// PyTorch takes what is below 1, by which the first step divides the averages.
inline constexpr double kMostBeta = 0.999999;
// PyTorch takes any positive bound; a finite range keeps fp32's overflow out.
inline constexpr double kLeastClip = 1e-30, kMostClip = 1e30;

// More workers than any machine has devices or cores for are a typing error.
inline constexpr int64_t kMostDevices = 64;

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

template <>
inline constexpr auto kFields<DatasetJob> =
    std::tuple{Field{"name", &DatasetJob::name}.called("dataset").in_protocol(),
               Field{"dir", &DatasetJob::dir}.called("data_dir"),
               Field{"limit_train", &DatasetJob::limit_train}.from(0, kMaxCount).in_protocol(),
               Field{"limit_test", &DatasetJob::limit_test}.from(0, kMaxCount).in_protocol(),
               Field{"image_size", &DatasetJob::image_size}.from(0, 4096).in_protocol(),
               Field{"synthetic_shape", &DatasetJob::synthetic_shape}.from(1, 65536),
               Field{"synthetic_classes", &DatasetJob::synthetic_classes}.from(2, 100000),
               Field{"synthetic_train", &DatasetJob::synthetic_train}.from(1, kMaxCount),
               Field{"synthetic_test", &DatasetJob::synthetic_test}.from(1, kMaxCount),
               Field{"augment", &DatasetJob::augment}.in_protocol_if_set(),
               Field{"context", &DatasetJob::context}.from(0, kMaxCount).in_protocol_if_set()};

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

template <>
inline constexpr auto kFields<OptimizerJob> = std::tuple{
    Field{"name", &OptimizerJob::name}.one_of("sgd adam adamw").called("optimizer").in_protocol(),
    Field{"impl", &OptimizerJob::impl}
        .one_of("loop foreach fused")
        .or_auto()
        .called("optimizer_impl")
        .in_protocol(),
    Field{"lr", &OptimizerJob::lr}.from(0, 1e6).in_protocol(),
    Field{"momentum", &OptimizerJob::momentum}.from(0, 1).in_protocol(),
    Field{"nesterov", &OptimizerJob::nesterov}.in_protocol(),
    Field{"weight_decay", &OptimizerJob::weight_decay}.from(0, 1e6).in_protocol(),
    Field{"beta1", &OptimizerJob::beta1}.from(0, kMostBeta),  // `betas` in the protocol
    Field{"beta2", &OptimizerJob::beta2}.from(0, kMostBeta),
    Field{"eps", &OptimizerJob::eps}.from(0, 1).in_protocol(),
    Field{"clip_norm", &OptimizerJob::clip_norm}
        .from(kLeastClip, kMostClip)
        .in_protocol("no clipping by norm"),
    Field{"clip_value", &OptimizerJob::clip_value}
        .from(kLeastClip, kMostClip)
        .in_protocol("no clipping by value"),
    Field{"accumulate", &OptimizerJob::accumulate}.from(1, 100000).in_protocol()};

struct ScheduleJob {
  std::string name = "constant";  // constant | cosine | step
  int64_t warmup_steps = 0;
  std::string on_skip =
      "follow";  // follow | hold: does a skipped scaler step advance the schedule?
};

template <>
inline constexpr auto kFields<ScheduleJob> =
    std::tuple{Field{"name", &ScheduleJob::name}
                   .one_of("constant cosine step")
                   .called("schedule")
                   .in_protocol(),
               Field{"warmup_steps", &ScheduleJob::warmup_steps}.from(0, kMaxCount).in_protocol(),
               Field{"on_skip", &ScheduleJob::on_skip}
                   .one_of("follow hold")
                   .called("schedule_on_skip")
                   .in_protocol()};

// How FP8 numbers are scaled in the transformer-engine modes; the defaults are those of Transformer
// Engine's DelayedScaling, which Lightning Fabric passes. The last three belong to `delayed`.
struct Float8Job {
  std::string recipe = "delayed";  // delayed | dynamic
  int64_t margin = 0;              // scales are divided by 2^margin
  int64_t history = 1024;          // passes that amax is remembered for
  std::string amax = "max";        // of the history: max | most_recent
};

template <>  // together they are `fp8` in the protocol (recipe_json)
inline constexpr auto kFields<Float8Job> =
    std::tuple{Field{"recipe", &Float8Job::recipe}.one_of("delayed dynamic").called("fp8_recipe"),
               Field{"margin", &Float8Job::margin}.from(0, 32).called("fp8_margin"),
               Field{"history", &Float8Job::history}.from(1, 1 << 20).called("fp8_history"),
               Field{"amax", &Float8Job::amax}.one_of("max most_recent").called("fp8_amax")};

// cuBLASLt wants every dimension that FP8 products sum over or store to be a multiple of this;
// others are padded with zeros.
inline constexpr int64_t kFloat8Multiple = 16;

// The members that take effect, as results tell them.
json recipe_json(const Float8Job& job);

// What a run leaves from time to time so that another process can go on with it
// (common/checkpoint_file.h), the last two; one of steps and seconds is not 0.
struct CheckpointJob {
  std::string stem;  // of the files' names; empty = none are written
  int64_t steps = 0;
  double seconds = 0;
  std::string identity = "{}";  // JSON: what has to be the same there; kept as it is
  std::string resume_from;      // a file; empty = from the beginning
};

template <>
inline constexpr auto kFields<CheckpointJob> = std::tuple{
    Field{"stem", &CheckpointJob::stem}, Field{"steps", &CheckpointJob::steps}.from(0, kMaxCount),
    Field{"seconds", &CheckpointJob::seconds}.from(0, limits::kLongestS),
    Field{"identity", &CheckpointJob::identity}, Field{"resume_from", &CheckpointJob::resume_from}};

// One mode, one seed. Members have the names of the result file's `protocol`.
struct TrainJob {
  std::string engine = "libtorch";  // which worker: libtorch | fabric
  std::string mode = "32-true";
  uint32_t seed = 42;
  std::string model = "cnn";
  // Where model is torchscript, its file; where it is python, file.py:name or library:name.
  std::string model_file;
  json model_options = json::object();  // model-specific sizes, e.g. {"layers": 4} for gpt
  DatasetJob dataset;
  int64_t batch_size = 128;               // of each device
  int64_t devices = 1;                    // that train one model, each in a worker of its own
  std::string grad_compression = "none";  // none | fp16 | bf16: gradients between devices
  int64_t epochs = 1;
  int64_t steps = 0;       // optimizer steps in all; 0 = whole epochs
  int64_t eval_every = 1;  // epochs; 0 = after the last one only
  // Training ends with the evaluation that reaches this share of the test set.
  std::optional<double> target_accuracy, target_perplexity;  // one of them at most
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
  bool compile = false;            // torch.compile, of the fabric engine
  bool keep_going = false;         // train on after the run has diverged
  int64_t memory_limit_bytes = 0;  // 0 = none; an allocation over it is an out-of-memory error
  // A pilot trains `steps` steps, ends with the first step that finishes after pilot_limit_s, then
  // evaluates one batch; the coordinator projects time and memory of the whole run from it.
  bool pilot = false;
  double pilot_limit_s = 20.0;
  CheckpointJob checkpoint;
  // Test hook: the gradients of this optimizer step (from 0) get an infinity; -1 = never.
  int64_t inject_inf_at_step = -1;
};

template <>
inline constexpr auto kFields<TrainJob> = std::tuple{
    Field{"engine", &TrainJob::engine}.one_of("libtorch fabric"),
    Field{"mode", &TrainJob::mode},
    Field{"seed", &TrainJob::seed},
    Field{"model", &TrainJob::model}.in_protocol(),
    Field{"model_file", &TrainJob::model_file},
    Field{"model_options", &TrainJob::model_options}.in_protocol_if_set(),
    Field{"dataset", &TrainJob::dataset},
    Field{"batch_size", &TrainJob::batch_size}.from(1, kMaxCount).in_protocol(),
    Field{"devices", &TrainJob::devices}.from(1, kMostDevices).in_protocol_if_set(),
    Field{"grad_compression", &TrainJob::grad_compression}
        .one_of("none fp16 bf16")
        .in_protocol_if_set(),
    Field{"epochs", &TrainJob::epochs}.from(1, kMaxCount).in_protocol(),
    Field{"steps", &TrainJob::steps}.from(0, kMaxCount).in_protocol(),
    Field{"eval_every", &TrainJob::eval_every}.from(0, kMaxCount).in_protocol(),
    Field{"target_accuracy", &TrainJob::target_accuracy}.from(0, 1).in_protocol_if_set(),
    Field{"target_perplexity", &TrainJob::target_perplexity}.from(1, 1e9).in_protocol_if_set(),
    Field{"optimizer", &TrainJob::optimizer},
    Field{"schedule", &TrainJob::schedule},
    Field{"label_smoothing", &TrainJob::label_smoothing}.from(0, 1).in_protocol(),
    Field{"init", &TrainJob::init}.one_of("fp32 module").in_protocol(),
    Field{"init_weights", &TrainJob::init_weights},
    Field{"save_weights", &TrainJob::save_weights},
    Field{"dump_trace", &TrainJob::dump_trace},
    Field{"dump_trace_weights_every", &TrainJob::dump_trace_weights_every}.from(0, kMaxCount),
    Field{"loss_autocast", &TrainJob::loss_autocast}.in_protocol(),
    Field{"memory_format", &TrainJob::memory_format}
        .one_of("contiguous channels_last")
        .or_auto()
        .in_protocol(),
    Field{"tf32", &TrainJob::tf32}.one_of("default off on").in_protocol(),
    Field{"cpu_fp16", &TrainJob::cpu_fp16}.one_of("real fabric").in_protocol(),
    Field{"deterministic", &TrainJob::deterministic}.one_of("auto on off").in_protocol(),
    Field{"gemm", &TrainJob::gemm}.one_of("default onednn").or_auto().in_protocol(),
    Field{"attention", &TrainJob::attention}.one_of("default math").or_auto(),
    Field{"fp8", &TrainJob::fp8},
    Field{"tuned_malloc", &TrainJob::tuned_malloc},
    Field{"cuda_graph", &TrainJob::cuda_graph}.in_protocol_if_set(),
    Field{"cudnn_benchmark", &TrainJob::cudnn_benchmark}.in_protocol_if_set(),
    Field{"compile", &TrainJob::compile}.in_protocol_if_set(),
    Field{"keep_going", &TrainJob::keep_going},
    Field{"memory_limit_bytes", &TrainJob::memory_limit_bytes}.from(0).called("memory_limit"),
    Field{"pilot", &TrainJob::pilot},
    Field{"pilot_limit_s", &TrainJob::pilot_limit_s},
    Field{"checkpoint", &TrainJob::checkpoint},
    Field{"inject_inf_at_step", &TrainJob::inject_inf_at_step}.from(-1, kMaxCount)};

// Memory of the train job's steps on simulated cards (rows of kGpuCards), in several modes.
struct PredictJob {
  std::vector<std::string> gpus, modes;
  bool find_max_batch = false;
};

template <>
inline constexpr auto kFields<PredictJob> = std::tuple{
    Field{"gpus", &PredictJob::gpus}.required(), Field{"modes", &PredictJob::modes}.required(),
    Field{"find_max_batch", &PredictJob::find_max_batch}};

struct Job {
  JobKind kind = JobKind::describe;
  std::string device = "cpu";  // cpu | cuda:0 | simulated:t4
  int64_t threads = 1;
  int64_t parent_pid = 0;        // 0 = no parent to follow
  int64_t rank = 0;              // of train.devices workers that do this job together
  std::string meeting;           // where they meet: file:PATH or tcp://HOST:PORT
  double rank_timeout_s = 1800;  // one that is silent for so long has failed; PyTorch's default
  TrainJob train;                // used when kind is train or predict
  PredictJob predict;            // used when kind is predict
};

// Whether several workers do it.
inline bool is_shared(const Job& job) {
  return job.kind == JobKind::train && job.train.devices > 1;
}

json to_json(const Job& job);

// Throws JsonFieldError naming the member that is missing, of the wrong type or not allowed.
Job job_from_json(const json& document);

}  // namespace precbench
