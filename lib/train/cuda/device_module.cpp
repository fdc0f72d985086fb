#include "train/cuda/device_module.h"

#include <array>

namespace precbench::train {

std::string_view name_of(MemoryUse use) {
  constexpr std::array<std::string_view, kMemoryUses> kNames = {
      "resident",    "weights",  "gradients", "optimizer",
      "activations", "autocast", "workspace", "temporaries"};
  return kNames[static_cast<size_t>(use)];
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
