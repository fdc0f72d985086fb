// Watches one NVIDIA GPU while runs are measured: a thread samples it ten times a second and never
// holds anybody up, whatever the driver does.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "bench/platform/nvml_report.h"

namespace precbench {

struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";
  // The card's counters are renewed every 20 to 100 ms.
  std::chrono::milliseconds period{100};
  // How long anybody waits for the driver. It initialises within about two seconds on a machine
  // that keeps no driver state between processes.
  std::chrono::milliseconds patience{5000};
  // Whether a process id is this program's or a worker's; empty: this process and its children.
  std::function<bool(int64_t)> is_ours;
};

class NvmlMonitor {
 public:
  // Starts to load the library and returns at once.
  explicit NvmlMonitor(const NvmlTarget& target, NvmlOptions options = {});
  NvmlMonitor(const NvmlMonitor&) = delete;
  NvmlMonitor& operator=(const NvmlMonitor&) = delete;
  ~NvmlMonitor();  // waits for the thread up to `patience`, then leaves it behind

  // The card's facts, or null with the reason in `reason`. Waits up to `patience`.
  std::optional<NvmlFacts> facts(std::string& reason);

  // A run begins: one sample now, then one each period.
  void begin();

  // The run has ended: one last sample, then what they amount to. Without begin(), or when the
  // driver did not answer, every figure is null with the reason.
  NvmlReport end();

 private:
  struct Shared;
  static void watch(const std::shared_ptr<Shared>& shared);
  void give_up(const std::string& what);  // the mutex is held
  bool wait_until_ready(std::string& reason);
  std::shared_ptr<Shared> shared_;
};

}  // namespace precbench
