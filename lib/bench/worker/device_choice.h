// Which device the comparison runs on, and what the worker's LibTorch says of it.
#pragma once

#include <string>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/platform/device_facts.h"
#include "bench/worker/job_runner.h"

namespace precbench {

struct DeviceChoice {
  std::string name = "cpu";  // as jobs call it: cpu | cuda:0 | simulated:t4
  DeviceFacts facts;
  json worker_facts;               // the describe job's answer, for the environment
  std::string libtorch;            // "2.11.0"
  std::vector<std::string> notes;  // sentences for the user: why it is the CPU, ...
  bool is_cuda() const { return facts.kind != "cpu"; }
};

// What a worker gets: the training on that device, as a child of this process.
Job job_on(const DeviceChoice& device, const Plan& plan, TrainJob train);

// Asks a worker what is there and applies --device. Throws DeviceError (exit code 4) when the
// worker cannot be started or is of another version, or when a device was asked for that is not
// usable, naming what is missing.
DeviceChoice choose_device(const Plan& plan, JobRunner& runner);

}  // namespace precbench
