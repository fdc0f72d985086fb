#include "bench/run/file_of_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "bench/files/atomic_file.h"

namespace precbench {

std::string file_of_run(const Plan& plan, const RunSlot& slot, const std::string& path,
                        const std::string& ending) {
  if (!names_folder(path)) return path;
  if (slot.role != Role::measure) return "";
  std::string name(slot.row.mode->name);
  if (plan.engines.size() > 1) name += "." + std::string(slot.row.engine);
  name += fmt::format("-seed{}", slot.seed);
  if (plan.repeats > 1) name += fmt::format("-repeat{}", slot.repeat);
  return (std::filesystem::path(path) / (name + ending)).string();
}

}  // namespace precbench
