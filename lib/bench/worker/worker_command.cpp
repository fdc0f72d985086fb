#include "bench/worker/worker_command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/platform/paths.h"
#include "bench/worker/python.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

std::string text_of_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

constexpr const char* kNameAnother =
    "or name a LibTorch of your own:  PRECBENCH_LIBTORCH=DIR  (with lib/libtorch_cpu.so in it)";

struct InstalledWorker {
  int major = 0, minor = 0;
  std::string path;
  std::string release() const { return std::to_string(major) + "." + std::to_string(minor); }
};

// libexec/precbench/2.11/bin/precbench-worker of the installed tree; the newest release last.
std::vector<InstalledWorker> installed_workers(const fs::path& program_folder) {
  std::vector<InstalledWorker> workers;
  std::error_code ignored;
  const fs::path folder = program_folder.parent_path() / "libexec" / "precbench";
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    InstalledWorker worker{0, 0, (entry.path() / "bin" / "precbench-worker").string()};
    if (std::sscanf(name.c_str(), "%4d.%4d", &worker.major, &worker.minor) == 2) {
      workers.push_back(worker);
    }
  }
  std::sort(workers.begin(), workers.end(), [](const auto& a, const auto& b) {
    return std::pair(a.major, a.minor) < std::pair(b.major, b.minor);
  });
  return workers;
}

std::string releases_of(const std::vector<InstalledWorker>& workers) {
  std::vector<std::string> names;
  for (const InstalledWorker& worker : workers) names.push_back(worker.release());
  return joined(names, " ");
}

// The newest that is here.
std::string pip_command(const std::string& python, const std::vector<InstalledWorker>& workers) {
  return python + " -m pip install 'torch==" + workers.back().release() + ".*'";
}

std::string torch_of_python(const std::string& python,
                            const std::vector<InstalledWorker>& workers) {
  const PythonAnswer answer = ask_python(python, R"(
spec = importlib.util.find_spec('torch')
if spec and spec.origin: print(os.path.dirname(spec.origin)))");
  if (answer.started && !answer.text.empty()) return answer.text;
  const std::string why = answer.started ? python + " has none" : answer.problem;
  throw DeviceError("no torch to run on: " + why + ", and PRECBENCH_LIBTORCH is not set" +
                    "\n       install one:  " + pip_command(python, workers) + "  (any of " +
                    releases_of(workers) + ")\n       " + kNameAnother);
}

}  // namespace

WorkerCommand find_worker(const WorkerSurroundings& around) {
  const std::string beside = around.program_folder + "/precbench-worker";
  const auto workers = installed_workers(around.program_folder);
  std::error_code ignored;
  if (!around.worker.empty()) return {around.worker, {}, around.libtorch};
  if (fs::exists(beside, ignored) || workers.empty()) return {beside, {}, around.libtorch};

  const std::string python = around.python.empty() ? "python3" : around.python;
  const bool is_named = !around.libtorch.empty();
  const std::string dir = is_named ? around.libtorch : torch_of_python(python, workers);
  const std::string told = is_named ? "PRECBENCH_LIBTORCH=" + dir : "the torch in " + dir;
  if (!fs::exists(dir + "/lib/libtorch_cpu.so", ignored)) {
    throw DeviceError(told + " has no lib/libtorch_cpu.so\n       install a torch:  " +
                      pip_command(python, workers) + "\n       " + kNameAnother);
  }
  if (dir.find(':') != std::string::npos) {
    throw DeviceError(told +
                      " has ':' in its path, which separates folders in the loader's search "
                      "path\n       give a link to it:  PRECBENCH_LIBTORCH=LINK");
  }
  const auto release = libtorch_release(dir);
  for (const InstalledWorker& worker : workers) {
    if (worker.release() == release) return {worker.path, {}, fs::absolute(dir).string()};
  }
  throw DeviceError(told + " is " + (release ? "of release " + *release : "of an unknown release") +
                    "; workers are here for " + releases_of(workers) +
                    "\n       install such a torch:  " + pip_command(python, workers) +
                    "\n       " + kNameAnother);
}

namespace {

WorkerSurroundings surroundings() {
  return {executable_dir(), text_of_variable("PRECBENCH_WORKER"),
          text_of_variable("PRECBENCH_LIBTORCH"), text_of_variable("PRECBENCH_PYTHON")};
}

// The interpreter of the environment whose site-packages has this torch; a build folder tells which
// LibTorch its worker was built with.
std::string python_of_libtorch(std::string dir, const std::string& share) {
  if (dir.empty()) std::getline(std::ifstream(share + "/libtorch") >> std::ws, dir);
  const fs::path python = fs::path(dir) / "../../../../bin/python3";
  std::error_code ignored;
  return !dir.empty() && fs::exists(python, ignored) ? python.lexically_normal().string() : "";
}

}  // namespace

WorkerCommand find_fabric_worker(const WorkerSurroundings& around, const std::string& share) {
  if (!around.worker.empty()) return {around.worker, {}, around.libtorch};
  const std::string package = share + "/precbench_fabric";
  std::string python = around.python;
  if (python.empty()) python = python_of_libtorch(around.libtorch, share);
  if (python.empty()) python = "python3";
  const PythonAnswer answer = ask_python(python, R"(
names = {'torch': 'torch', 'lightning_fabric': 'lightning-fabric'}
print('lacks', *[pip for name, pip in names.items() if not importlib.util.find_spec(name)]))");
  constexpr std::string_view kLacks = "lacks";
  const bool is_whole = answer.text == kLacks;
  if (answer.started && is_whole && fs::exists(package)) return {python, {package}, ""};
  std::string why;
  if (!answer.started || !answer.text.starts_with(kLacks)) {
    why = answer.started ? python + " does not run" : answer.problem;
  } else if (!is_whole) {
    const std::string missing = answer.text.substr(kLacks.size() + 1);
    why = python + " has no " + missing + "\n       install it:  " + python + " -m pip install " +
          missing;
  } else {
    why = "'" + package + "' is missing: install precbench again";
  }
  throw DeviceError("--engine fabric: " + why +
                    "\n       or name a Python that has torch and lightning-fabric:  "
                    "PRECBENCH_PYTHON=PATH");
}

const WorkerCommand& worker_command_from_environment() {
  static const WorkerCommand command = find_worker(surroundings());
  return command;
}

WorkerCommand fabric_command_from_environment() {
  return find_fabric_worker(surroundings(), share_dir());
}

std::optional<std::string> libtorch_release(const std::string& dir) {
  // A wheel has the one; a LibTorch without Python the other, with the version alone.
  constexpr std::pair<const char*, const char*> kFiles[] = {
      {"version.py", "__version__ = '%4d.%4d."}, {"build-version", "%4d.%4d."}};
  for (const auto& [name, pattern] : kFiles) {
    std::ifstream file(fs::path(dir) / name);
    for (std::string line; std::getline(file, line);) {
      int major = 0;
      int minor = 0;
      if (std::sscanf(line.c_str(), pattern, &major, &minor) == 2) {
        return std::to_string(major) + "." + std::to_string(minor);
      }
    }
  }
  return std::nullopt;
}

std::string library_path(const std::string& dir, std::string_view inherited) {
  std::string path = dir + "/lib";
  while (!inherited.empty()) {
    const std::string_view folder = inherited.substr(0, inherited.find(':'));
    if (!folder.empty()) path.append(":").append(folder);
    inherited.remove_prefix(std::min(folder.size() + 1, inherited.size()));
  }
  return path;
}

}  // namespace precbench
