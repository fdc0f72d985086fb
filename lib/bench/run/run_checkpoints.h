// The checkpoints of a comparison's runs, beside its result file: which one a run goes on from, and
// when they go.
#pragma once

#include <optional>
#include <string>

#include "bench/plan/plan.h"
#include "bench/plan/schedule.h"
#include "bench/result/document.h"
#include "bench/run/console.h"
#include "common/job.h"

namespace precbench {

class RunCheckpoints {
 public:
  // Keeps references. `result_path`: where the comparison is saved.
  RunCheckpoints(const Plan& plan, const ResultDocument& document, Console& console)
      : plan_(plan), document_(document), console_(console) {}

  // Has the job leave checkpoints, and go on from the last good one; says of others why they are
  // not used. Returns the step that the run goes on from.
  std::optional<int64_t> prepare(const RunSlot& slot, const std::string& result_path,
                                 TrainJob& job) const;

  // Of a run that has ended.
  void remove(const RunSlot& slot, const std::string& result_path) const;

 private:
  const Plan& plan_;
  const ResultDocument& document_;
  Console& console_;
};

}  // namespace precbench
