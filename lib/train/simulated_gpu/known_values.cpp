#include "train/simulated_gpu/known_values.h"

namespace precbench::train::simulated {

void KnownValues::set(uint64_t address, double value) {
  const std::lock_guard lock(mutex_);
  values_[address] = value;
}

std::optional<double> KnownValues::at(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(address);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void KnownValues::forget(uint64_t begin, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  values_.erase(values_.lower_bound(begin),
                values_.lower_bound(begin + static_cast<uint64_t>(bytes)));
}

void KnownValues::for_each(uint64_t begin, int64_t bytes,
                           const std::function<void(uint64_t, double)>& visit) const {
  const std::lock_guard lock(mutex_);
  const auto end = values_.lower_bound(begin + static_cast<uint64_t>(bytes));
  for (auto it = values_.lower_bound(begin); it != end; ++it) visit(it->first, it->second);
}

}  // namespace precbench::train::simulated
