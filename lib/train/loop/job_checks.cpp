#include "train/loop/job_checks.h"

#include <string>

#include "train/base/errors.h"

namespace precbench::train {
namespace {

template <typename Record>
void check_fields(const Record& record, const std::string& path) {
  for_each_field(record, [&](const auto& field, const auto& value) {
    const std::string name = path + field.key;
    if constexpr (Described<std::remove_cvref_t<decltype(value)>>) {
      check_fields(value, name + ".");
    } else {
      const std::string what = broken(field.rule, value);
      require(what.empty(), name + " " + what);
    }
  });
}

}  // namespace

void check_train_job(const TrainJob& job) {
  check_fields(job, "");
  require(job.dataset.synthetic_shape.size() == 3,
          "dataset.synthetic_shape must be three numbers: channels, height, width");
  require(job.dataset.name != "text" || job.dataset.context > 0, "dataset text needs a context");
  const OptimizerJob& optimizer = job.optimizer;
  require(!optimizer.clip_norm || !optimizer.clip_value,
          "optimizer.clip_norm and clip_value exclude each other: choose one");
  require(!optimizer.nesterov || optimizer.momentum > 0, "optimizer.nesterov needs a momentum");
}

}  // namespace precbench::train
