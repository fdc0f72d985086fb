#include "bench/run/preflight.h"

#include <cstring>
#include <filesystem>

#include "bench/files/atomic_file.h"
#include "common/errors.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

void check_folder(const fs::path& folder, const std::string& option, const std::string& advice) {
  if (const int problem = try_writing_into(folder.string()); problem != 0) {
    throw FileError("cannot write into '" + folder.string() + "' (" + option +
                    "): " + std::strerror(problem) + "\n       " + advice);
  }
}

void check_file_folder(const std::string& path, const std::string& option) {
  if (path.empty()) return;
  if (fs::is_directory(path))
    throw FileError("'" + path + "' (" + option + ") is a folder; name a file in it");
  const std::string file = file_behind(path);
  if (file.empty()) return;  // a device or a pipe
  const fs::path folder = fs::path(file).parent_path();
  check_folder(folder.empty() ? fs::path(".") : folder, option,
               "name a file in a folder that you may write to");
}

// A file, or a folder with one for each run, which is made where it is not there yet.
void check_file_of_runs(const std::string& path, const std::string& option) {
  if (!names_folder(path)) return check_file_folder(path, option);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw FileError("cannot create the folder '" + path + "' (" + option + "): " + error.message());
  }
  check_folder(path, option, "name a folder that you may write to");
}

}  // namespace

void check_writable(const Plan& plan) {
  if (plan.save) {
    std::error_code error;
    fs::create_directories(plan.results_dir, error);
    if (error) {
      throw FileError("cannot create the results directory '" + plan.results_dir +
                      "': " + error.message() +
                      "\n       choose another with --results-dir, or run with --no-save");
    }
    sweep_temporary_files(plan.results_dir);
    check_folder(plan.results_dir, "--results-dir",
                 "choose another with --results-dir, or run with --no-save");
  }
  for (const ExportFile& file : plan.output.exports)
    check_file_folder(file.path, "--export-" + file.format);
  check_file_of_runs(plan.job.save_weights, "--save-weights");
  check_file_of_runs(plan.job.dump_trace, "--dump-trace");
}

}  // namespace precbench
