#include "bench/text/units.h"

#include <fmt/format.h>

#include <cmath>

namespace precbench {
namespace {

// Minutes are read more easily than hours up to here: "83m 12s".
constexpr double kHoursFrom = 7200.0;

// From here on (30,000 years) a file says something that no run took; hours would not fit.
constexpr double kNoTimeFrom = 1e12;

// A sign before a figure that rounds to zero would claim a direction.
std::string signed_text(double value, int decimals) {
  std::string text = fmt::format("{:+.{}f}", value, decimals);
  if (text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  if (std::round(seconds * 100) < 6000) return fmt::format("{:.2f}s", seconds);
  if (!(seconds < kNoTimeFrom)) return fmt::format("{:.2e}s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (seconds < kHoursFrom) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  const int64_t minutes = (whole + 30) / 60;
  return fmt::format("{}h {:02}m", minutes / 60, minutes % 60);
}

std::string duration_text(const Estimate& seconds) {
  const std::string mean = duration_text(seconds.mean);
  return seconds.std ? mean + " ± " + duration_text(*seconds.std) : mean;
}

std::string percent_text(const Estimate& fraction) {
  if (fraction.std)
    return fmt::format("{:.2f} ± {:.2f} %", 100 * fraction.mean, 100 * *fraction.std);
  return fmt::format("{:.2f} %", 100 * fraction.mean);
}

std::string points_text(double difference) { return signed_text(100 * difference, 2) + " pp"; }

std::string bound_text(double bound) {
  // The first subtraction keeps 2.0000000001 points from becoming 2.1.
  return fmt::format("{:g}", std::ceil(1000 * bound - 1e-6) / 10);
}

std::string mebibytes_text(double bytes) {
  const double mebibytes = bytes / kMebibyte;
  return mebibytes < 10 ? fmt::format("{:.2f}", mebibytes) : fmt::format("{:.0f}", mebibytes);
}

std::string speed_text(const Ratio& time_ratio) {
  const bool is_faster = time_ratio.ratio <= 1;
  const double factor = is_faster ? 1 / time_ratio.ratio : time_ratio.ratio;
  // The relative error of a ratio is that of its inverse.
  const std::string error =
      time_ratio.error ? fmt::format(" ± {:.2f}", factor * *time_ratio.error / time_ratio.ratio)
                       : "";
  const std::string number = fmt::format("{:.2f}", factor);
  if (number == "1.00") return time_ratio.error ? number + error + "x" : "same speed";
  return number + error + (is_faster ? "x faster" : "x slower");
}

std::string change_text(double ratio) { return signed_text(100 * (ratio - 1), 0) + " %"; }

}  // namespace precbench
