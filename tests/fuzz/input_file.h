// Bytes as a file that has a path, without a disk.
#pragma once

#include <string>
#include <string_view>

namespace precbench::fuzz {

class InputFile {
 public:
  explicit InputFile(std::string_view bytes);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace precbench::fuzz
