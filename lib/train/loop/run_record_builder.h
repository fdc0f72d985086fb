// From what was measured to the result's records.
#pragma once

#include <optional>
#include <vector>

#include "common/job.h"
#include "common/modes.h"
#include "common/run_record.h"
#include "train/data/data_set.h"
#include "train/device/device_module.h"
#include "train/loop/run_observers.h"

namespace precbench::train {

struct RunMeasurements {
  std::optional<double> startup_s;
  double data_s = 0, train_s = 0;
  std::optional<double> eval_s;  // nothing where nothing was evaluated
  bool dataset_resident = true;
  bool is_text = false;
  DataTroubles troubles;
  int64_t dataset_bytes = 0, train_samples = 0;
  std::optional<int64_t> used_bytes;     // of the whole device
  DeviceMemory memory;                   // peak_allocated_bytes without what was resident before
  std::vector<int64_t> memory_of_ranks;  // peak_allocated_bytes of each, where there are several
  std::optional<json> memory_breakdown, numerics;
  std::vector<EpochRecord> epochs;
};

// A figure that is not finite becomes null in JSON: says so in `unknown`.
void note_non_finite(Unknowns& unknown, const char* key, std::optional<double>& value,
                     const std::string& trouble);

// Throws std::runtime_error where the dtypes observed in the first step are not those of the mode
// table.
void check_recipe(const ModeTraits& mode, Precision& precision, const DtypeWatch& dtypes,
                  const Optimizer& optimizer);

TrainResult build_result(const TrainJob& job, const ModeTraits& mode, const DeviceModule& device,
                         Precision& precision, const Optimizer& optimizer,
                         const RunObservers& watched, const StepLog& log,
                         const RunMeasurements& measured);

}  // namespace precbench::train
