#include "train/device/module_folder.h"

#include <cstdlib>

namespace precbench::train {

std::filesystem::path module_folder() {
  const char* named = std::getenv("PRECBENCH_DEVICE_MODULES");
  if (named != nullptr && *named != '\0') return named;
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "lib";
}

}  // namespace precbench::train
