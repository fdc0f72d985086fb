#include "train/loop/job_checks.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "train/errors.h"

namespace precbench::train {
namespace {

void require_one_of(const std::string& key, const std::string& value,
                    std::initializer_list<const char*> allowed) {
  std::string names;
  for (const char* name : allowed) {
    if (value == name) return;
    if (!names.empty()) names.append(", ");
    names.append(name);
  }
  throw std::invalid_argument(key + " '" + value + "' is not one of " + names);
}

void check_dataset(const DatasetJob& job) {
  require(job.limit_train >= 0 && job.limit_test >= 0,
          "dataset.limit_train and limit_test must not be negative");
  require(job.image_size >= 0, "dataset.image_size must not be negative");
  require(job.synthetic_shape.size() == 3 &&
              std::all_of(job.synthetic_shape.begin(), job.synthetic_shape.end(),
                          [](int64_t extent) { return extent > 0; }),
          "dataset.synthetic_shape must be three positive numbers: channels, height, width");
  require(job.synthetic_classes >= 2, "dataset.synthetic_classes must be at least 2");
  require(job.synthetic_train >= 1 && job.synthetic_test >= 1,
          "dataset.synthetic_train and synthetic_test must be at least 1");
  require(job.context >= 0, "dataset.context must not be negative");
  require(job.name != "text" || job.context > 0, "dataset text needs a context");
}

void check_optimizer(const OptimizerJob& job) {
  require_one_of("optimizer.name", job.name, {"sgd", "adam", "adamw"});
  require_one_of("optimizer.impl", job.impl, {"loop", "foreach", "fused"});
  require(job.accumulate >= 1, "optimizer.accumulate must be at least 1");
  require(!job.clip_norm || !job.clip_value,
          "optimizer.clip_norm and clip_value exclude each other: choose one");
  require(!job.clip_norm || *job.clip_norm > 0, "optimizer.clip_norm must be positive");
  require(!job.clip_value || *job.clip_value > 0, "optimizer.clip_value must be positive");
  require(!job.nesterov || job.momentum > 0, "optimizer.nesterov needs a momentum");
}

}  // namespace

void check_train_job(const TrainJob& job) {
  require(job.batch_size >= 1, "batch_size must be at least 1");
  require(job.epochs >= 1, "epochs must be at least 1");
  require(job.steps >= 0, "steps must not be negative");
  require(job.label_smoothing >= 0 && job.label_smoothing <= 1,
          "label_smoothing must lie between 0 and 1");
  require_one_of("init", job.init, {"fp32", "module"});
  require_one_of("memory_format", job.memory_format, {"contiguous", "channels_last"});
  require_one_of("tf32", job.tf32, {"default", "off", "on"});
  require_one_of("cpu_fp16", job.cpu_fp16, {"real", "fabric"});
  require_one_of("deterministic", job.deterministic, {"auto", "on", "off"});
  require_one_of("gemm", job.gemm, {"default", "onednn"});
  require_one_of("attention", job.attention, {"default", "math"});
  require_one_of("schedule.name", job.schedule.name, {"constant", "cosine", "step"});
  require_one_of("schedule.on_skip", job.schedule.on_skip, {"follow", "hold"});
  require_one_of("fp8.recipe", job.fp8.recipe, {"delayed", "dynamic"});
  require_one_of("fp8.amax", job.fp8.amax, {"max", "most_recent"});
  require(job.fp8.history >= 1, "fp8.history must be at least 1");
  check_dataset(job.dataset);
  check_optimizer(job.optimizer);
}

}  // namespace precbench::train
