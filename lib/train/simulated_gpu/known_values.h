// The few numbers that a simulated device does know: scalars that were filled in (a loss scale, an
// infinity that a test puts into a gradient) and what was copied from them. All else reads as 0.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace precbench::train::simulated {

class KnownValues {
 public:
  void set(uint64_t address, double value);
  std::optional<double> at(uint64_t address) const;
  void forget(uint64_t begin, int64_t bytes);
  void for_each(uint64_t begin, int64_t bytes,
                const std::function<void(uint64_t address, double value)>& visit) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, double> values_;
};

}  // namespace precbench::train::simulated
