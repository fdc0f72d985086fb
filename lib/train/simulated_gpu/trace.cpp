#include "train/simulated_gpu/trace.h"

#include <utility>

namespace precbench::train::simulated {

void Trace::start() {
  const std::lock_guard lock(mutex_);
  operations_.clear();
  is_on_ = true;
}

std::vector<TracedOperation> Trace::stop() {
  const std::lock_guard lock(mutex_);
  is_on_ = false;
  return std::exchange(operations_, {});
}

void Trace::add(TracedOperation operation) {
  const std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
}

}  // namespace precbench::train::simulated
