#include "common/checkpoint_file.h"

#include <fcntl.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/errors.h"
#include "common/json_input.h"
#include "common/json_text.h"
#include "common/limits.h"
#include "common/temporary_file.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

// The number is the format's: a file of another one is something else.
constexpr std::string_view kMagic = "precbench checkpoint 1\n";
constexpr size_t kChecksumBytes = 4;  // little endian

std::string checksum_bytes(const boost::crc_32_type& crc) {
  std::string bytes;
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    bytes += static_cast<char>(crc.checksum() >> (8 * i) & 0xFF);
  }
  return bytes;
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw FileError("the checkpoint '" + path + "' cannot be used: " + why);
}

// Whether its last bytes are the checksum of all others.
bool is_whole(std::ifstream& file, uint64_t size) {
  constexpr uint64_t kPart = 1 << 20;
  boost::crc_32_type crc;
  std::string part;
  for (uint64_t left = size - kChecksumBytes; left > 0; left -= part.size()) {
    part.resize(std::min(left, kPart));
    if (!file.read(part.data(), static_cast<std::streamsize>(part.size()))) return false;
    crc.process_bytes(part.data(), part.size());
  }
  part.resize(kChecksumBytes);
  return file.read(part.data(), kChecksumBytes) && part == checksum_bytes(crc);
}

}  // namespace

void write_checkpoint(const std::string& path, const json& header,
                      const std::vector<std::string_view>& payload) {
  const auto check = [&](int error) {
    if (error != 0) {
      throw FileError("cannot write the checkpoint '" + path + "': " + std::strerror(error));
    }
  };
  TemporaryFile file(folder_of(path));
  boost::crc_32_type crc;
  const auto append = [&](std::string_view bytes) {
    crc.process_bytes(bytes.data(), bytes.size());
    check(file.append(bytes));
  };
  append(kMagic);
  append(json_text(header, -1) + "\n");
  for (const std::string_view bytes : payload) append(bytes);
  check(file.append(checksum_bytes(crc)));
  check(file.finish(mode_of_new_files()));
  check(file.replace(path));
}

Checkpoint read_checkpoint(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code no_file;
  const uint64_t size = fs::file_size(path, no_file);
  if (!file || no_file) fail(path, "it cannot be read");
  std::string magic(kMagic.size(), '\0');
  file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  if (magic != kMagic) fail(path, "it is no checkpoint of this version");
  file.seekg(0);
  if (size < kMagic.size() + kChecksumBytes || !is_whole(file, size)) fail(path, "it is damaged");
  // What follows was written by us, or by somebody who knows the checksum.
  file.clear();
  file.seekg(static_cast<std::streamoff>(kMagic.size()));
  std::string text;
  for (char c = 0; file.get(c) && c != '\n';) {
    if (text.size() >= limits::kEventBytes) fail(path, "its header is too long");
    text += c;
  }
  Checkpoint checkpoint;
  checkpoint.payload_begin = kMagic.size() + text.size() + 1;
  uint64_t bytes = 0;
  try {
    checkpoint.header = json_from_text(text);
    const ObjectReader reader(checkpoint.header, "");
    reader.object("identity");
    reader.object("values");
    reader.required<int64_t>("step");
    const uint64_t most = size - kChecksumBytes - std::min(size, checkpoint.payload_begin);
    for (const ObjectReader& tensor : reader.objects("tensors")) {
      const auto each = tensor.required<int64_t>("bytes");
      if (each < 0 || static_cast<uint64_t>(each) > most - bytes) fail(path, "it is damaged");
      bytes += static_cast<uint64_t>(each);
    }
  } catch (const JsonFieldError& error) {
    fail(path, error.what());
  } catch (const JsonLimitError& error) {
    fail(path, error.what());
  } catch (const json::exception&) {
    fail(path, "its header is no JSON");
  }
  if (checkpoint.payload_begin + bytes + kChecksumBytes != size) fail(path, "it is damaged");
  return checkpoint;
}

std::string checkpoint_path(const std::string& stem, int64_t step) {
  return stem + "." + std::to_string(step) + std::string(kCheckpointSuffix);
}

std::vector<CheckpointName> checkpoints_of(const std::string& stem) {
  std::vector<CheckpointName> found;
  const std::string prefix = fs::path(stem).filename().string() + ".";
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_of(stem), none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(kCheckpointSuffix)) continue;
    const char* begin = name.data() + prefix.size();
    const char* end = name.data() + name.size() - kCheckpointSuffix.size();
    int64_t step = 0;
    if (begin >= end || std::from_chars(begin, end, step).ptr != end) continue;
    found.push_back({entry.path().string(), step});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.step > b.step; });
  return found;
}

}  // namespace precbench
