#include "data/cifar.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "common/limits.h"
#include "common/suggest.h"
#include "data/file_reader.h"
#include "data/tar_reader.h"

namespace precbench::data {
namespace {

constexpr int64_t kChannels = 3;
constexpr int64_t kSide = 32;
constexpr int64_t kImageBytes = kChannels * kSide * kSide;

constexpr const char* kPythonVersion =
    "is the version for Python, whose pickles only Python reads; get the binary version, "
    "cifar-10-binary.tar.gz or cifar-100-binary.tar.gz";

// What a message calls a file inside an archive.
std::string inside(const std::string& archive, const std::string& name) {
  return archive + ":" + name;
}

void append_records(ImageSet& set, const CifarFormat& format, const std::string& path,
                    const std::vector<uint8_t>& bytes) {
  const auto record_bytes = static_cast<size_t>(format.label_bytes + kImageBytes);
  if (bytes.empty()) fail_file(path, "is empty");
  if (bytes.size() % record_bytes != 0) {
    fail_file(path, "is truncated or not " + std::string(format.name) + ": " +
                        std::to_string(bytes.size()) + " bytes are no whole number of records of " +
                        std::to_string(record_bytes) + "; get the file again");
  }
  const size_t count = bytes.size() / record_bytes;
  set.pixels.reserve(set.pixels.size() + count * kImageBytes);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* record = bytes.data() + i * record_bytes;
    const uint8_t* image = record + format.label_bytes;
    const uint8_t label = image[-1];
    if (label >= format.classes) {
      fail_file(path, "holds label " + std::to_string(label) + " in record " + std::to_string(i) +
                          "; this data set has classes 0 to " + std::to_string(format.classes - 1));
    }
    set.labels.push_back(label);
    set.pixels.insert(set.pixels.end(), image, image + kImageBytes);
  }
  set.count += static_cast<int64_t>(count);
}

ImageSet join_records(const CifarFormat& format, const std::string& path,
                      const std::vector<std::string>& names,
                      std::map<std::string, std::vector<uint8_t>>& contents) {
  ImageSet set;
  set.channels = kChannels;
  set.height = kSide;
  set.width = kSide;
  for (const std::string& name : names) {
    const auto content = contents.extract(name);
    if (content.empty()) fail_file(path, "lacks " + name);
    append_records(set, format, inside(path, name), content.mapped());
  }
  return set;
}

// The version for Python has the same names without .bin.
bool is_python_version(const std::vector<std::string>& wanted, const std::string& name) {
  return std::find(wanted.begin(), wanted.end(), name + ".bin") != wanted.end();
}

std::map<std::string, std::vector<uint8_t>> read_archive(const std::string& path,
                                                         const std::vector<std::string>& wanted) {
  std::map<std::string, std::vector<uint8_t>> contents;
  TarReader archive(path);
  while (const auto name = archive.next()) {
    if (is_python_version(wanted, *name)) fail_file(path, kPythonVersion);
    if (std::find(wanted.begin(), wanted.end(), *name) == wanted.end()) continue;
    if (!contents.emplace(*name, archive.read(limits::kArchiveEntryBytes)).second) {
      fail_file(path, "holds " + *name + " twice");
    }
  }
  return contents;
}

std::map<std::string, std::vector<uint8_t>> read_folder(const std::string& path,
                                                        const std::vector<std::string>& wanted) {
  std::map<std::string, std::vector<uint8_t>> contents;
  for (const std::string& name : wanted) {
    FileReader file((std::filesystem::path(path) / name).string());
    contents[name] = file.read_up_to(limits::kArchiveEntryBytes);
  }
  return contents;
}

}  // namespace

const CifarFormat* find_cifar(std::string_view name) {
  static const std::array<CifarFormat, 2> formats = {{
      {"cifar10",
       1,
       10,
       "cifar-10-binary.tar.gz",
       "cifar-10-batches-bin",
       "cifar-10-batches-py",
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
        "data_batch_5.bin"},
       {"test_batch.bin"}},
      {"cifar100",
       2,
       100,
       "cifar-100-binary.tar.gz",
       "cifar-100-binary",
       "cifar-100-python",
       {"train.bin"},
       {"test.bin"}},
  }};
  const auto* found =
      std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.name == name; });
  return found == formats.end() ? nullptr : found;
}

CifarSplits read_cifar(const CifarFormat& format, const std::string& path) {
  std::vector<std::string> wanted = format.train_files;
  wanted.insert(wanted.end(), format.test_files.begin(), format.test_files.end());
  std::error_code ignored;
  auto contents = std::filesystem::is_directory(path, ignored) ? read_folder(path, wanted)
                                                               : read_archive(path, wanted);
  CifarSplits splits;
  splits.train = join_records(format, path, format.train_files, contents);
  splits.test = join_records(format, path, format.test_files, contents);
  return splits;
}

}  // namespace precbench::data
