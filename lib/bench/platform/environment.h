// The `environment` object of the result file: the machine that the figures were measured on.
#pragma once

#include <cstdint>

#include "bench/platform/cpu.h"
#include "bench/platform/device_facts.h"
#include "bench/platform/os.h"
#include "common/json_fields.h"

namespace precbench {

// {device{kind, name, compute_capability, memory_bytes, ...}, driver, cuda, cudnn, libtorch,
//  cpu{model, architecture, flags, threads, logical_cores, physical_cores, capability}, os, kernel,
//  memory_bytes, load_average, container}; what cannot be known is null, with its reason in
// `unknown` of the same object. `worker_facts` is the result of a describe job, of which the
// device's own members (clocks, multiprocessors, ...) are kept; a device's UUID is hashed, as it
// names one piece of hardware for ever.
json environment_json(const DeviceFacts& device, const CpuFacts& cpu, int64_t threads,
                      const json& worker_facts);

// The same with a given operating system (tests).
json environment_json(const DeviceFacts& device, const CpuFacts& cpu, int64_t threads,
                      const json& worker_facts, const OsFacts& os);

}  // namespace precbench
