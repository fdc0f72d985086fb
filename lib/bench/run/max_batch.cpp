#include "bench/run/max_batch.h"

#include <fmt/format.h>
#include <unistd.h>

#include "bench/files/standard_streams.h"
#include "bench/plan/resolve_device.h"
#include "bench/platform/verdict.h"
#include "bench/run/attention_choice.h"
#include "bench/run/console.h"
#include "bench/run/gemm_choice.h"
#include "bench/run/logged_runner.h"
#include "bench/run/row_batch.h"
#include "bench/text/layout.h"
#include "bench/worker/device_choice.h"
#include "common/errors.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "data/load.h"

namespace precbench {
namespace {

std::string mebibytes(int64_t bytes) {
  return fmt::format("{:.0f}", static_cast<double>(bytes) / (1 << 20));
}

class Experiment {
 public:
  explicit Experiment(Plan plan)
      : plan_(std::move(plan)), console_(plan_.output), runner_(console_) {}

  int run() {
    const std::string& format = plan_.output.format;
    if (format != "text" && format != "table" && format != "json" && format != "none") {
      throw UsageError("--find-max-batch does not print " + format +
                       "\n       formats: text table json none");
    }
    for (const std::string& warning : plan_.warnings) console_.warning(warning);
    const auto data = data::check_dataset(plan_.job.dataset);
    samples_ = data.train_samples;
    device_ = choose_device(plan_, runner_);
    resolve_for_device(plan_, device_.is_cuda(), [&] { return measure_gemm(plan_, runner_); });
    measure_attention(plan_, device_, data, runner_);
    limit_ = plan_.job.memory_limit_bytes;
    require_memory_limit(plan_, device_, "--find-max-batch");
    json modes = json::array();
    for (const ModeTraits* mode : plan_.modes) {
      modes.push_back(try_mode(*mode));
      if (runner_.interrupted()) break;
    }
    print(modes);
    return exit_code(modes);
  }

 private:
  json try_mode(const ModeTraits& mode) {
    const Support support = verdict(mode, device_.facts);
    if (support.verdict == SupportLevel::unsupported)
      return row(mode, "unsupported", support.why, {});
    const RowBatch found =
        find_row_batch(plan_, PlannedRow(&mode), device_, samples_, runner_, console_);
    if (!found.problem.empty()) return row(mode, "error", found.problem, {});
    if (found.not_one()) return row(mode, "oom", "not even one sample fits", found.search);
    return row(mode, "ok", "", found.search);
  }

  static json row(const ModeTraits& mode, const std::string& status, const std::string& reason,
                  const BatchSearch& search) {
    json trials = json::array();
    for (const BatchTrial& trial : search.trials) {
      trials.push_back({{"batch_size", trial.batch_size},
                        {"fits", trial.fits},
                        {"peak_allocated_bytes", nullable(trial.peak_bytes)},
                        {"reason", trial.fits ? json(nullptr) : json(trial.reason)}});
    }
    json object = {{"mode", mode.name},
                   {"status", status},
                   {"reason", reason.empty() ? json(nullptr) : json(reason)},
                   {"batch_size", nullptr},
                   {"peak_allocated_bytes", nullptr},
                   {"next", nullptr},
                   {"trials", trials},
                   {"unknown", json::object()}};
    if (search.largest) {
      object["batch_size"] = search.largest->batch_size;
      object["peak_allocated_bytes"] = nullable(search.largest->peak_bytes);
    } else {
      object["unknown"]["batch_size"] = object["unknown"]["peak_allocated_bytes"] = reason;
    }
    if (search.too_large) {
      object["next"] = {{"batch_size", search.too_large->batch_size},
                        {"reason", search.too_large->reason}};
    } else {
      object["unknown"]["next"] = search.largest ? "the batch is the whole data set" : reason;
    }
    return object;
  }

  void print(const json& modes) {
    if (plan_.output.format == "none") return;
    if (plan_.output.format == "json") {
      const json document = {
          {"kind", "max_batch"},
          {"device", device_.facts.name},
          {"model", plan_.job.model},
          {"limit_bytes", limit_ > 0 ? json(limit_) : nullable(device_.facts.memory_bytes)},
          {"modes", modes}};
      console_.result(json_text(document) + "\n");
      return;
    }
    std::vector<std::vector<std::string>> rows;
    for (const json& mode : modes) {
      const auto count = [](const json& value) {
        return value.is_number() ? std::to_string(value.get<int64_t>()) : std::string("-");
      };
      const json& peak = mode.at("peak_allocated_bytes");
      std::string next =
          printable(mode.at("reason").is_string() ? mode.at("reason").get<std::string>()
                                                  : "the whole data set fits");
      if (mode.at("next").is_object() && mode.at("batch_size").is_number()) {
        next = count(mode.at("next").at("batch_size")) + " does not fit";
      }
      rows.push_back({mode.at("mode").get<std::string>(), count(mode.at("batch_size")),
                      peak.is_number() ? mebibytes(peak.get<int64_t>()) : "-", next});
    }
    for (const std::string& line : laid_out({"mode", "largest batch", "peak MiB", "next"}, rows,
                                            columns_for(STDOUT_FILENO))) {
      console_.result(line + "\n");
    }
  }

  int exit_code(const json& modes) {
    if (const auto signal = runner_.interrupted()) return 128 + *signal;
    size_t ok = 0;
    size_t failed = 0;
    for (const json& mode : modes) {
      ok += mode["status"] == "ok" ? 1 : 0;
      failed += mode["status"] == "oom" || mode["status"] == "error" ? 1 : 0;
    }
    if (ok == 0) return static_cast<int>(ExitCode::nothing_ran);
    return static_cast<int>(failed > 0 ? ExitCode::partial : ExitCode::ok);
  }

  Plan plan_;
  Console console_;
  LoggedRunner runner_;
  DeviceChoice device_;
  int64_t samples_ = 0, limit_ = 0;
};

}  // namespace

int find_max_batches(Plan plan) { return Experiment(std::move(plan)).run(); }

}  // namespace precbench
