#include "bench/files/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/errors.h"

namespace precbench {

TemporaryFolder::TemporaryFolder(const std::string& name) {
  const auto parent = std::filesystem::temp_directory_path();
  std::string path = (parent / ("precbench-" + name + "-XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    throw FileError("cannot make a folder in " + parent.string() + ": " + std::strerror(errno));
  }
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace precbench
