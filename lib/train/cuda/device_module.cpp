#include "train/cuda/device_module.h"

namespace precbench::train {

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
