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

}  // namespace

std::vector<std::string> search_folders(const std::string& name, const std::string& data_dir) {
  if (!data_dir.empty()) return {data_dir, data_dir + "/" + name};
  std::vector<std::string> folders;
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

IdxFiles locate_idx_files(const std::string& name, const std::string& data_dir) {
  if (const auto files = find_idx_files(name, data_dir)) return *files;
  const DatasetTraits* traits = find_dataset(name);
  throw FileError("data set '" + name +
                  "' is not here: " + missing_files(search_folders(name, data_dir)) + "\n       " +
                  (traits == nullptr ? "" : std::string(traits->how_to_get)));
}

}  // namespace precbench::data
