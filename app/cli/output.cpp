#include "cli/output.h"

#include <algorithm>
#include <filesystem>

#include "bench/report/export.h"
#include "bench/report/formats.h"
#include "common/errors.h"

namespace precbench::cli {

std::vector<std::string> result_files(const std::vector<std::string>& named) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : named) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.path().extension() == ".json") inside.push_back(entry.path().string());
    }
    if (inside.empty()) throw FileError(path + ": a folder without result files (*.json)");
    std::sort(inside.begin(), inside.end());  // their names begin with the date
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

void ExportFlags::add_to(CLI::App& command) {
  for (const std::string& format : export_names()) {
    const std::string name(format);
    command.add_option("--export-" + name, paths_[name], "write it as " + name + " into a file")
        ->type_name("FILE");
  }
}

std::vector<ExportFile> ExportFlags::files() const {
  std::vector<ExportFile> files;
  for (const auto& [format, path] : paths_) {
    if (!path.empty()) files.push_back({format, path});
  }
  return files;
}

}  // namespace precbench::cli
