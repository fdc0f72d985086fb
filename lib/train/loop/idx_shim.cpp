#include "train/loop/idx_shim.h"

#include <cstdio>
#include <filesystem>
#include <vector>

#include "common/errors.h"

namespace precbench::train {
namespace {
std::vector<uint8_t> slurp(const std::string& base) {
  const bool plain = std::filesystem::exists(base);
  const std::string command = plain ? "cat '" + base + "'" : "gzip -dc '" + base + ".gz'";
  FILE* pipe = popen(command.c_str(), "r");
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> block(1 << 20);
  for (size_t n = 0; (n = fread(block.data(), 1, block.size(), pipe)) > 0;) {
    bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  }
  pclose(pipe);
  if (bytes.size() < 16) throw FileError(base + " cannot be read");
  return bytes;
}
}  // namespace
Split read_idx_split(const std::string& dir, const std::string& prefix, int64_t limit) {
  auto images = slurp(dir + "/" + prefix + "-images-idx3-ubyte");
  auto labels = slurp(dir + "/" + prefix + "-labels-idx1-ubyte");
  int64_t n = static_cast<int64_t>(labels.size()) - 8;
  if (limit > 0 && limit < n) n = limit;
  return {torch::from_blob(images.data() + 16, {n, 1, 28, 28}, torch::kByte).clone(),
          torch::from_blob(labels.data() + 8, {n}, torch::kByte).to(torch::kLong)};
}
}  // namespace precbench::train
