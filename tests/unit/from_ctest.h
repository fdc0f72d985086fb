// What ctest tells a test in its environment. On the compiler's command line, a folder's path would keep ccache from
// finding in one clone what another has compiled.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace precbench {

inline std::string from_ctest(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) {
    throw std::runtime_error(std::string(variable) + " is not set: ctest sets it");
  }
  return value;
}

// The folder of the sources.
inline std::string source_dir() { return from_ctest("PRECBENCH_SOURCE_DIR"); }

}  // namespace precbench
