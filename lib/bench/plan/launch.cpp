#include "bench/plan/launch.h"

#include <fmt/format.h>

#include "bench/plan/parse_value.h"
#include "common/errors.h"

namespace precbench {
namespace {

std::string text_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

int64_t number_of(const Environment& environment, const char* name, int64_t low, int64_t high) {
  const std::string text = text_of(environment, name);
  const auto number = parse_integer(text);
  if (number && *number >= low && *number <= high) return *number;
  throw UsageError(
      fmt::format("{}='{}' is no number from {} to {}; torchrun sets it, unset it to "
                  "run by yourself",
                  name, text, low, high));
}

}  // namespace

std::optional<Launch> launch_from(const Environment& environment) {
  constexpr int64_t kHighestPort = 65535;
  const std::string host = text_of(environment, "MASTER_ADDR");
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    if (text_of(environment, name).empty()) return std::nullopt;
  }
  Launch launch;
  launch.size = number_of(environment, "WORLD_SIZE", 1, kMostDevices);
  if (launch.size == 1) return std::nullopt;
  launch.rank = number_of(environment, "RANK", 0, launch.size - 1);
  const int64_t port = number_of(environment, "MASTER_PORT", 1, kHighestPort);
  if (!text_of(environment, "LOCAL_WORLD_SIZE").empty()) {
    launch.local_size = number_of(environment, "LOCAL_WORLD_SIZE", 1, launch.size);
  }
  // torchrun's agent has the port already, and serves there what ranks tell each other.
  const bool is_served = text_of(environment, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  launch.place = fmt::format("{}://{}:{}", is_served ? "agent" : "tcp", host, port);
  return launch;
}

GivenFlags with_devices(GivenFlags flags, const Launch& launch) {
  const std::string size = std::to_string(launch.size);
  const auto given = flags.find("devices");
  if (given != flags.end() && given->second != std::vector<std::string>{size}) {
    throw UsageError("--devices does not fit WORLD_SIZE=" + size +
                     ", which torchrun sets: leave --devices out");
  }
  flags["devices"] = {size};
  return flags;
}

void join_launch(Plan& plan, const Launch& launch) {
  plan.launch = launch;
  if (plan.budget_s) throw UsageError("--budget does not go with several processes (WORLD_SIZE)");
  if (!plan.resume.empty()) {
    throw UsageError("--resume does not go with several processes (WORLD_SIZE)");
  }
  if (launch.rank == 0) return;
  plan.save = false;
  plan.gate = {};
  plan.output.format = "none";
  plan.output.exports.clear();
  plan.output.log_file.clear();
  plan.output.quiet = true;
  plan.warnings.clear();
  plan.job.save_weights.clear();
  plan.job.dump_trace.clear();
}

}  // namespace precbench
