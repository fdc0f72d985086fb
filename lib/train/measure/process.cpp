#include "train/measure/process.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace precbench::train {

std::optional<double> seconds_since_process_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // proc(5): the name stands in parentheses and may hold anything; starttime is the 20th field
  // after it.
  constexpr int kFieldsToSkip = 19;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsToSkip; ++i) fields >> skipped;
  double ticks = 0;
  if (!(fields >> ticks)) return std::nullopt;
  timespec now{};
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::nullopt;
  const double since_boot =
      static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  return since_boot - ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::optional<int64_t> peak_resident_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;  // "VmHWM:  12345 kB"
  }
  return std::nullopt;
}

}  // namespace precbench::train
