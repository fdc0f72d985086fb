// What this worker measures with, as C functions for the one in Python
// (python/precbench_fabric/native.py): tensors are counted, and dtypes and operations seen, by the
// same code in both engines.
#include <torch/version.h>

#include <optional>
#include <string>

#include "common/json_fields.h"
#include "train/base/dtypes.h"
#include "train/device/counting_allocator.h"
#include "train/measure/dtype_observer.h"

namespace {

using precbench::json;
using precbench::train::CountingAllocator;
using precbench::train::DtypeObserver;

std::optional<DtypeObserver> observer;

json names_of(const std::set<at::ScalarType>& types) {
  std::set<std::string> names;
  for (const at::ScalarType type : types) names.insert(precbench::train::dtype_name(type));
  return names;
}

}  // namespace

#define PRECBENCH_EXPORT extern "C" __attribute__((visibility("default")))

// The release that it was compiled for, "2.11": C++ interfaces hold within one.
PRECBENCH_EXPORT const char* precbench_torch_release() {
  static const std::string release =
      std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR);
  return release.c_str();
}

PRECBENCH_EXPORT void precbench_count_allocations() { CountingAllocator::install(); }

PRECBENCH_EXPORT int64_t precbench_allocated_bytes() {
  return CountingAllocator::instance().current();
}

PRECBENCH_EXPORT int64_t precbench_peak_bytes() { return CountingAllocator::instance().peak(); }

PRECBENCH_EXPORT void precbench_reset_peak() { CountingAllocator::instance().reset_peak(); }

// 0 = no limit.
PRECBENCH_EXPORT void precbench_limit_bytes(int64_t bytes) {
  CountingAllocator::instance().set_limit(bytes);
}

PRECBENCH_EXPORT void precbench_begin_observing(int is_cuda) {
  observer.emplace(is_cuda != 0 ? at::kCUDA : at::kCPU);
}

// {compute: [names], attention: [names], autocast: name or null, flops}
PRECBENCH_EXPORT const char* precbench_end_observing() {
  static std::string text;
  const auto observed = observer->observed();
  observer.reset();
  json autocast;
  if (observed.autocast) autocast = precbench::train::dtype_name(*observed.autocast);
  text = json{{"compute", names_of(observed.compute)},
              {"attention", names_of(observed.attention)},
              {"autocast", autocast},
              {"flops", observed.flops}}
             .dump();
  return text.c_str();
}
