#include "train/device/device_module.h"

#include <array>
#include <chrono>

namespace precbench::train {

std::string_view name_of(MemoryUse use) {
  constexpr std::array<std::string_view, kMemoryUses> kNames = {
      "resident",    "weights",  "gradients", "optimizer",
      "activations", "autocast", "workspace", "temporaries"};
  return kNames[static_cast<size_t>(use)];
}

double DeviceModule::host_seconds() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

json to_json(const DeviceFacts& facts) {
  json document = {{"kind", facts.kind},
                   {"name", facts.name},
                   {"compute_capability", nullable(facts.compute_capability)},
                   {"memory_bytes", nullable(facts.memory_bytes)},
                   {"unknown", facts.unknown}};
  document.update(facts.more);
  return document;
}

}  // namespace precbench::train
