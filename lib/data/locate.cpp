#include "data/locate.h"

#include <cstdlib>
#include <filesystem>

#include "common/errors.h"
#include "common/names.h"
#include "common/suggest.h"

namespace precbench::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kIdxNames = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte"};

std::string user_data_home() {
  const char* xdg = std::getenv("XDG_DATA_HOME");
  if (xdg != nullptr && *xdg != '\0') return xdg;
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.local/share";
}

std::optional<std::string> existing(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const std::string& candidate : {name, name + ".gz"}) {
    if (fs::exists(folder / candidate, ignored)) return (folder / candidate).string();
  }
  return std::nullopt;
}

std::optional<IdxFiles> files_in(const std::string& folder) {
  std::array<std::string, 4> paths;
  for (size_t i = 0; i < kIdxNames.size(); ++i) {
    const auto path = existing(folder, kIdxNames[i]);
    if (!path) return std::nullopt;
    paths[i] = *path;
  }
  return IdxFiles{paths[0], paths[1], paths[2], paths[3]};
}

// Base-files of Debian and Ubuntu; 35 kB of English that stay the same.
constexpr const char* kTextOfEverySystem = "/usr/share/common-licenses/GPL-3";

[[noreturn]] void fail_missing(const std::string& name, const std::string& why) {
  const DatasetTraits* traits = find_dataset(name);
  throw FileError("data set '" + name + "' is not here: " + why + "\n       " +
                  (traits == nullptr ? "" : std::string(traits->how_to_get)));
}

// The folder that has some of the files says more about what is wrong than one that has none.
std::string missing_files(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::vector<std::string> missing;
    for (const char* name : kIdxNames) {
      if (!existing(folder, name)) missing.emplace_back(name);
    }
    if (missing.size() < kIdxNames.size()) {
      return "'" + folder + "' lacks " + joined(missing, ", ") + " (plain or .gz)";
    }
  }
  return "looked in " + joined(folders, ", ");
}

// torchvision.datasets.CIFAR10(root) leaves it there.
std::optional<std::string> python_version(const std::string& name, const std::string& data_dir) {
  const CifarFormat* format = find_cifar(name);
  if (format == nullptr) return std::nullopt;
  std::error_code ignored;
  std::vector<fs::path> candidates;
  if (fs::path(data_dir).filename() == format->python_folder) candidates.emplace_back(data_dir);
  for (const std::string& folder : search_folders(name, data_dir)) {
    candidates.push_back(fs::path(folder) / format->python_folder);
  }
  for (const fs::path& candidate : candidates) {
    if (!fs::exists(candidate, ignored)) continue;
    return "'" + candidate.string() +
           "' is the version for Python, whose pickles only Python reads";
  }
  return std::nullopt;
}

// Below the root that torchvision.datasets.MNIST(root) and FashionMNIST(root) were given.
std::string_view torchvision_folder(std::string_view name) {
  if (name == "mnist") return "MNIST/raw";
  return name == "fashion-mnist" ? "FashionMNIST/raw" : "";
}

}  // namespace

std::vector<std::string> search_folders(const std::string& name, const std::string& data_dir) {
  std::vector<std::string> folders;
  if (!data_dir.empty()) {
    folders = {data_dir, data_dir + "/" + name};
    if (const auto below = torchvision_folder(name); !below.empty()) {
      folders.push_back(data_dir + "/" + std::string(below));
      folders.push_back(data_dir + "/raw");
    }
    return folders;
  }
  if (const std::string home = user_data_home(); !home.empty()) {
    folders.push_back(home + "/precbench/datasets/" + name);
  }
  folders.push_back("/usr/share/datasets/" + name);
  return folders;
}

std::optional<IdxFiles> find_idx_files(const std::string& name, const std::string& data_dir) {
  for (const std::string& folder : search_folders(name, data_dir)) {
    if (auto files = files_in(folder)) return files;
  }
  return std::nullopt;
}

std::optional<std::string> find_cifar_files(const CifarFormat& format,
                                            const std::string& data_dir) {
  std::error_code ignored;
  if (fs::is_regular_file(data_dir, ignored)) return data_dir;
  for (const std::string& folder : search_folders(std::string(format.name), data_dir)) {
    if (fs::exists(fs::path(folder) / format.test_files.front(), ignored)) return folder;
    for (const std::string_view name : {format.folder, format.archive}) {
      const fs::path candidate = fs::path(folder) / name;
      if (fs::exists(candidate, ignored)) return candidate.string();
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_text_file(const std::string& data_dir) {
  std::error_code ignored;
  if (fs::is_regular_file(data_dir, ignored)) return data_dir;
  for (const std::string& folder : search_folders("text", data_dir)) {
    if (auto file = existing(folder, "input.txt")) return file;
  }
  if (data_dir.empty() && fs::exists(kTextOfEverySystem, ignored)) return kTextOfEverySystem;
  return std::nullopt;
}

std::optional<std::string> find_dataset_files(const std::string& name,
                                              const std::string& data_dir) {
  if (const CifarFormat* cifar = find_cifar(name)) return find_cifar_files(*cifar, data_dir);
  if (name == "text") return find_text_file(data_dir);
  if (name == "bundle") {
    return data_dir.empty() ? std::nullopt : std::optional(data_dir);
  }
  const auto files = find_idx_files(name, data_dir);
  return files ? std::optional(files->train_images) : std::nullopt;
}

std::string locate_dataset(const std::string& name, const std::string& data_dir) {
  if (auto path = find_dataset_files(name, data_dir)) return *path;
  if (const auto why = python_version(name, data_dir)) fail_missing(name, *why);
  fail_missing(name, "looked in " + joined(search_folders(name, data_dir), ", "));
}

IdxFiles locate_idx_files(const std::string& name, const std::string& data_dir) {
  if (const auto files = find_idx_files(name, data_dir)) return *files;
  fail_missing(name, missing_files(search_folders(name, data_dir)));
}

}  // namespace precbench::data
