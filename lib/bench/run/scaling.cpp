#include "bench/run/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "bench/files/temporary_folder.h"
#include "bench/run/side.h"
#include "common/errors.h"

namespace precbench {

ScalingRuns run_on_each(const std::vector<int64_t>& numbers, const Plan& plan,
                        const std::string& program, const std::vector<std::string>& options,
                        const std::function<void(const std::string&)>& tell) {
  for (const int64_t number : numbers) {
    if (plan.job.batch_size % number == 0) continue;
    throw UsageError(
        fmt::format("--devices: the batch of all devices, {}, is not divisible by {}; "
                    "choose another --batch-size",
                    plan.job.batch_size, number));
  }
  const int64_t most = *std::max_element(numbers.begin(), numbers.end());
  const int64_t threads_each = std::max<int64_t>(1, plan.threads / most);
  const TemporaryFolder folder("scaling");
  const SignalsPassedOn signals;
  ScalingRuns runs;
  for (const int64_t number : numbers) {
    const std::string file = (folder.path() / fmt::format("{}.json", number)).string();
    std::vector<std::string> arguments = {"run"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(fmt::format("--devices={}", number));
    arguments.push_back(fmt::format("--batch-size={}", plan.job.batch_size / number));
    arguments.push_back(fmt::format("--threads={}", threads_each * number));
    arguments.emplace_back("--format=none");
    arguments.push_back("--export-json=" + file);
    tell(fmt::format("{} device{}:", number, number == 1 ? "" : "s"));
    const int code = exit_code_of({{}, program, {}}, arguments, /*is_heard=*/!plan.output.quiet);
    if (runs.exit_code == 0) runs.exit_code = code;
    if (signals.received() || code == 128 + SIGINT || code == 128 + SIGTERM) {
      runs.exit_code = signals.received() ? 128 + *signals.received() : code;
      return runs;
    }
    std::error_code ignored;
    // What could not be run at all has said why.
    if (!std::filesystem::exists(file, ignored)) return runs;
    runs.documents.push_back(load_result(file));
  }
  return runs;
}

}  // namespace precbench
