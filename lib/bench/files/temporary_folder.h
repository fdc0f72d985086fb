// A folder of our own among the temporary files, which goes with everything in it.
#pragma once

#include <filesystem>
#include <string>

namespace precbench {

class TemporaryFolder {
 public:
  // "precbench-NAME-XXXXXX", for its owner alone. Throws FileError.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace precbench
