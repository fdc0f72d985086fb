#include "bench/platform/contention.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "bench/files/text_file.h"

namespace precbench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

CpuSnapshot parse_proc_stat(std::string_view text, double ticks_per_s) {
  // proc(5): cpu user nice system idle iowait irq softirq steal guest guest_nice; the last two are
  // counted in user and nice already.
  enum Column { user, nice, system, idle, iowait, irq, softirq, steal, columns };
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.empty() || words[0] != "cpu") continue;
    std::array<int64_t, columns> ticks{};
    for (size_t i = 0; i < columns && i + 1 < words.size(); ++i) {
      const auto number = whole_number(words[i + 1]);
      // 2^53 ticks are a million years of a hundred processors.
      if (!number || *number < 0 || *number > (int64_t{1} << 53)) return {};
      ticks[i] = *number;
    }
    CpuSnapshot snapshot;
    snapshot.ticks_per_s = ticks_per_s;
    snapshot.busy_ticks =
        ticks[user] + ticks[nice] + ticks[system] + ticks[irq] + ticks[softirq] + ticks[steal];
    snapshot.total_ticks = snapshot.busy_ticks + ticks[idle] + ticks[iowait];
    return snapshot;
  }
  return {};
}

CpuSnapshot read_cpu_snapshot() {
  const long ticks_per_s = sysconf(_SC_CLK_TCK);
  const char* named = std::getenv("PRECBENCH_PROC_STAT");
  return parse_proc_stat(read_text_file(named == nullptr ? "/proc/stat" : named).value_or(""),
                         ticks_per_s > 0 ? static_cast<double>(ticks_per_s) : 100.0);
}

double own_cpu_s() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<double> share_of_others(const CpuSnapshot& before, const CpuSnapshot& after,
                                      double own_s) {
  if (before.total_ticks == 0 || after.total_ticks == 0) return std::nullopt;
  const int64_t total = after.total_ticks - before.total_ticks;
  if (total < kLeastTicks || !std::isfinite(own_s)) return std::nullopt;
  const int64_t busy = std::max<int64_t>(after.busy_ticks - before.busy_ticks, 0);
  const double others = static_cast<double>(busy) - own_s * after.ticks_per_s;
  return std::clamp(others / static_cast<double>(total), 0.0, 1.0);
}

std::optional<std::string> busy_reason(const CpuSnapshot& before, const CpuSnapshot& after,
                                       double own_s) {
  const auto share = share_of_others(before, after, own_s);
  if (!share || *share <= kBusyShare) return std::nullopt;
  return "others used " + std::to_string(std::lround(*share * 100)) +
         " % of this machine's CPU time";
}

}  // namespace precbench
