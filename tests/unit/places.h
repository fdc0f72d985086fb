// Where a test's files are. On the compiler's command line, a folder's path would keep ccache from
// finding in one clone what another has compiled.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace precbench {

// The folder of the sources, which ctest tells.
inline std::string source_dir() {
  const char* value = std::getenv("PRECBENCH_SOURCE_DIR");
  if (value == nullptr) throw std::runtime_error("PRECBENCH_SOURCE_DIR is not set: ctest sets it");
  return value;
}

// The build folder, whose bin/ this program lies in.
inline std::string build_dir() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().string();
}

}  // namespace precbench
