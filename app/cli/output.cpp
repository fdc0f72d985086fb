#include "cli/output.h"

#include <algorithm>
#include <filesystem>

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

void ExportFlags::add_to(CLI::App& command, const std::vector<std::string>& formats) {
  for (const std::string& name : formats) {
    command.add_option("--export-" + name, paths_[name], "write it as " + name + " into a file")
        ->type_name("FILE");
  }
}

std::vector<ExportFile> ExportFlags::files(const std::string& printed) const {
  std::vector<ExportFile> files;
  for (const auto& [format, path] : paths_) {
    if (!path.empty()) files.push_back({format, path});
  }
  refuse_two_results_on_stdout(printed, files);
  return files;
}

bool ExportFlags::has(const std::string& format) const {
  const auto found = paths_.find(format);
  return found != paths_.end() && !found->second.empty();
}

}  // namespace precbench::cli
