// Which worker a run uses, and on which LibTorch. A build folder has one worker beside precbench,
// with the path of the LibTorch it was built with. An installed tree has one for each release of
// LibTorch, and no path: it takes the torch of the Python that precbench is installed in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace precbench {

// Where the worker is and how its environment differs from ours.
struct WorkerCommand {
  std::string path;
  std::vector<std::string> arguments;  // of an interpreter: what it is to run
  // Folder of the LibTorch that the worker is to use instead of the one it was built with; empty =
  // that one. It goes into the LD_LIBRARY_PATH of the worker alone.
  std::string libtorch_dir;
};

// What decides it.
struct WorkerSurroundings {
  std::string program_folder;
  std::string worker;    // PRECBENCH_WORKER
  std::string libtorch;  // PRECBENCH_LIBTORCH
  std::string python;    // PRECBENCH_PYTHON, which the Python package sets; else python3 of PATH
};

// Throws DeviceError that says what to do: there is no torch, or none of a release that a worker is
// installed for.
WorkerCommand find_worker(const WorkerSurroundings& around);

// The same for this process; asked once, since a Python that starts takes a tenth of a second.
const WorkerCommand& worker_command_from_environment();

// Of the fabric engine: the Python that has torch and lightning-fabric, and our package. It is
// PRECBENCH_PYTHON, else the Python that the LibTorch of the other worker lies in, else python3.
// Throws DeviceError that says what to install.
WorkerCommand find_fabric_worker(const WorkerSurroundings& around, const std::string& share);

// The same for this process.
WorkerCommand fabric_command_from_environment();

// "2.11" of a LibTorch 2.11.0+cu130, told by the files in its folder; nothing if they do not.
std::optional<std::string> libtorch_release(const std::string& dir);

// `dir`/lib before the folders of `inherited`, without its empty ones: they would mean the current
// folder, whose libraries nobody asked for.
std::string library_path(const std::string& dir, std::string_view inherited);

}  // namespace precbench
