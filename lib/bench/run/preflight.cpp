#include "bench/run/preflight.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/errors.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

// Permission bits do not tell (root, read-only mounts, full disks), so a file is really written.
void check_folder(const fs::path& folder, const std::string& option, const std::string& advice) {
  std::string probe = (folder / ".precbench-XXXXXX").string();
  const int file = mkstemp(probe.data());
  bool written = file >= 0 && ::write(file, "x", 1) == 1;
  const int problem = errno;
  if (file >= 0) {
    close(file);
    unlink(probe.c_str());
  }
  if (!written) {
    throw FileError("cannot write into '" + folder.string() + "' (" + option +
                    "): " + std::strerror(problem) + "\n       " + advice);
  }
}

void check_file_folder(const std::string& path, const std::string& option) {
  const fs::path folder = fs::path(path).parent_path();
  if (path.empty() || path == "-") return;
  if (fs::is_directory(path))
    throw FileError("'" + path + "' (" + option + ") is a folder; name a file in it");
  check_folder(folder.empty() ? fs::path(".") : folder, option,
               "name a file in a folder that you may write to");
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
    check_folder(plan.results_dir, "--results-dir",
                 "choose another with --results-dir, or run with --no-save");
  }
  for (const ExportFile& file : plan.output.exports)
    check_file_folder(file.path, "--export-" + file.format);
  check_file_folder(plan.job.save_weights, "--save-weights");
  check_file_folder(plan.job.dump_trace, "--dump-trace");
}

}  // namespace precbench
