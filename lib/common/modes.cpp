#include "common/modes.h"

namespace precbench {

const ModeTraits* find_mode(std::string_view name) {
  for (const ModeTraits& mode : kModes) {
    if (mode.name == name || (!mode.alias.empty() && mode.alias == name)) return &mode;
  }
  return nullptr;
}

bool may_run_as(std::string_view mode, std::string_view effective) {
  return mode == effective || (mode == "16-mixed" && effective == "bf16-mixed");
}

std::string compute_format(const ModeTraits& mode) {
  return mode.tf32 ? "tf32" : std::string(name_of(mode.compute));
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const ModeTraits& mode : kModes) names.emplace_back(mode.name);
  return names;
}

}  // namespace precbench
