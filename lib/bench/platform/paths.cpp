#include "bench/platform/paths.h"

#include <filesystem>

namespace precbench {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string executable_dir() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string share_dir() {
  const fs::path programs = executable_dir();
  std::error_code ignored;
  const fs::path installed = programs.parent_path() / "share" / "precbench";
  if (fs::is_directory(installed, ignored)) return installed.string();
  for (fs::path folder = programs; folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::is_directory(folder / "configs", ignored) &&
        fs::exists(folder / "CMakeLists.txt", ignored)) {
      return folder.string();
    }
  }
  return "";
}

}  // namespace precbench
