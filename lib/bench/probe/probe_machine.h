// `precbench probe`: verdicts and measured ceilings of one device.
#pragma once

#include <string>

#include "bench/worker/job_runner.h"

namespace precbench {

struct ProbeRequest {
  std::string device = "auto";
  int64_t threads = 1;
  bool fresh = false;  // measure although there is a result of this machine
};

// {kind "probe", schema_version, tool, environment, threads, modes (probe_report.h), formats (the
// worker's figures), busy (why the rates are too low, else null), from_cache}. Asks two workers,
// unless the machine's result is kept; results of a busy machine are not. Throws DeviceError as
// choose_device(), and when the probe does not come to its end.
json probe_machine(const ProbeRequest& request, JobRunner& runner);

}  // namespace precbench
