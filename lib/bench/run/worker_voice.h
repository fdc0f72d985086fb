// What workers write to standard error. What a user's own Python prints is shown, under the name of
// the row; libraries' messages are with -v alone.
#pragma once

#include <string>
#include <string_view>

#include "bench/run/console.h"
#include "common/job.h"

namespace precbench {

// The row that a job trains ("16-mixed"), else its kind ("describe").
std::string speaker_of(const Job& job);

class WorkerVoice {
 public:
  explicit WorkerVoice(Console& console) : console_(console) {}

  void take(const Job& job, std::string_view line);

 private:
  Console& console_;
  std::string speaker_;  // row, seed, and whether it is a trial
  int shown_ = 0;        // lines of this speaker
};

}  // namespace precbench
