// Paths that belong to this test process alone: ctest runs the tests of one program side by side,
// each in a process of its own, and a second checkout may run them too.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace precbench {

// In the system's folder for temporary files; nothing is created.
inline std::string temporary_path(const std::string& name) {
  const std::string own = "precbench-" + std::to_string(getpid()) + "-" + name;
  return (std::filesystem::temp_directory_path() / own).string();
}

}  // namespace precbench
