// What a run's figures are set beside: the memory that the simulation of cards predicts, and the
// rate that the probe measured.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bench/plan/plan.h"
#include "bench/result/document.h"
#include "bench/run/console.h"
#include "bench/worker/device_choice.h"
#include "bench/worker/job_runner.h"

namespace precbench {

class Yardsticks {
 public:
  // Keeps references.
  Yardsticks(const Plan& plan, const DeviceChoice& device, Console& console);

  // The peaks of all modes, on a GPU alone: every run there checks the simulation.
  void predict(JobRunner& runner);

  // Adds the row's ceiling and a note on its prediction after a run that sent its result. Returns
  // the mark too-small where the last run was far below the ceiling of a GPU. `counts`: the run is
  // one of those that are measured.
  std::optional<Mark> set_beside(ModeRecord& row, bool counts);

 private:
  void note_prediction(ModeRecord& row) const;

  const Plan& plan_;
  const DeviceChoice& device_;
  Console& console_;
  std::map<std::string, int64_t> predicted_;  // bytes, by mode
  std::optional<json> probe_;
};

}  // namespace precbench
