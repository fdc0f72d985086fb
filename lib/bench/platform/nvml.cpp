#include "bench/platform/nvml.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bench/files/text_file.h"

namespace precbench {
namespace {

using Clock = std::chrono::steady_clock;

// Whether the process is this one or a child of it.
bool is_own_process(int64_t pid) {
  if (pid == getpid()) return true;
  const auto status = read_text_file("/proc/" + std::to_string(pid) + "/status");
  for (const std::string_view line : lines_of(status ? *status : std::string_view())) {
    if (line.starts_with("PPid:")) return whole_number(trimmed(line.substr(5))) == getpid();
  }
  return false;
}

}  // namespace

// Owned by the monitor and by the thread: a thread that hangs in the driver outlives the monitor.
struct NvmlMonitor::Shared {
  NvmlTarget target;
  NvmlOptions options;

  std::mutex mutex;
  std::condition_variable changed;
  bool is_ready = false;    // the device is open; facts stands
  bool has_exited = false;  // the thread is done
  std::string failure;      // why there is no device; empty while unknown
  bool hangs = false;       // the thread did not answer in time and is waited for no more
  bool quit = false;
  bool collecting = false;  // between begin() and end()
  bool last_sample_taken = true;
  NvmlFacts facts;
  std::vector<NvmlSample> samples;
  Unknowns unknown;
  std::optional<int64_t> foreign;
};

NvmlMonitor::NvmlMonitor(const NvmlTarget& target, NvmlOptions options)
    : shared_(std::make_shared<Shared>()) {
  shared_->target = target;
  shared_->options = std::move(options);
  if (!shared_->options.is_ours) shared_->options.is_ours = is_own_process;
  // Detached: nobody can join a thread that hangs. It holds its own share of what it touches.
  std::thread([shared = shared_] { watch(shared); }).detach();
}

NvmlMonitor::~NvmlMonitor() {
  std::unique_lock lock(shared_->mutex);
  shared_->quit = true;
  shared_->changed.notify_all();
  if (shared_->hangs) return;
  shared_->changed.wait_for(lock, shared_->options.patience, [&] { return shared_->has_exited; });
}

void NvmlMonitor::watch(const std::shared_ptr<Shared>& shared) {
  std::unique_ptr<NvmlDevice> device;
  std::string failure;
  try {
    device = std::make_unique<NvmlDevice>(shared->options.library, shared->target);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  std::unique_lock lock(shared->mutex);
  if (device == nullptr) {
    shared->failure = failure;
  } else {
    shared->facts = device->facts();
    shared->is_ready = true;
  }
  shared->changed.notify_all();

  while (device != nullptr && !shared->quit) {
    shared->changed.wait(
        lock, [&] { return shared->quit || shared->collecting || !shared->last_sample_taken; });
    if (shared->quit) break;
    const bool is_last = !shared->collecting;
    lock.unlock();  // the driver may take its time
    NvmlSample sample = device->sample();
    sample.time_s = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    std::optional<int64_t> foreign;
    if (sample.processes) foreign = foreign_processes(*sample.processes, shared->options.is_ours);
    lock.lock();
    shared->samples.push_back(std::move(sample));
    shared->unknown = device->unknown();
    if (foreign) shared->foreign = std::max(shared->foreign.value_or(0), *foreign);
    if (is_last) {
      shared->last_sample_taken = true;
      shared->changed.notify_all();
    } else {
      shared->changed.wait_for(lock, shared->options.period,
                               [&] { return shared->quit || !shared->collecting; });
    }
  }
  lock.unlock();
  device.reset();
  lock.lock();
  shared->has_exited = true;
  shared->changed.notify_all();
}

void NvmlMonitor::give_up(const std::string& what) {
  shared_->hangs = true;
  shared_->failure = what + " within " + std::to_string(shared_->options.patience.count()) + " ms";
}

bool NvmlMonitor::wait_until_ready(std::string& reason) {
  std::unique_lock lock(shared_->mutex);
  // Once given up, not waited for again: a session has many runs.
  if (shared_->failure.empty()) {
    const bool answered = shared_->changed.wait_for(lock, shared_->options.patience, [&] {
      return shared_->is_ready || !shared_->failure.empty();
    });
    if (!answered) give_up("NVML did not answer");
  }
  if (shared_->failure.empty()) return true;
  reason = shared_->failure;
  return false;
}

std::optional<NvmlFacts> NvmlMonitor::facts(std::string& reason) {
  if (!wait_until_ready(reason)) return std::nullopt;
  const std::lock_guard lock(shared_->mutex);
  return shared_->facts;
}

void NvmlMonitor::begin() {
  std::string reason;
  if (!wait_until_ready(reason)) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->samples.clear();
  shared_->unknown.clear();
  shared_->foreign.reset();
  shared_->collecting = true;
  shared_->last_sample_taken = false;
  shared_->changed.notify_all();
}

NvmlReport NvmlMonitor::end() {
  std::string reason;
  if (!wait_until_ready(reason)) return empty_nvml_report(reason);
  std::unique_lock lock(shared_->mutex);
  if (!shared_->collecting) return empty_nvml_report("nothing was sampled");
  shared_->collecting = false;
  shared_->changed.notify_all();
  if (!shared_->changed.wait_for(lock, shared_->options.patience,
                                 [&] { return shared_->last_sample_taken; })) {
    give_up("NVML stopped answering");
    return empty_nvml_report(shared_->failure);
  }
  return nvml_report(shared_->samples, shared_->facts, shared_->unknown, shared_->foreign);
}

}  // namespace precbench
