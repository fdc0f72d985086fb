#include "bench/run/gemm_choice.h"

#include <fmt/format.h>

#include "bench/probe/probe_cache.h"
#include "bench/worker/ask_worker.h"
#include "common/errors.h"
#include "common/printable.h"

namespace precbench {
namespace {

// Throws JsonFieldError where these are no rates.
GemmRates rates_from(const json& facts) {
  const ObjectReader reader(facts, "");
  GemmRates rates;
  rates.by_default = reader.required<double>("default");
  rates.onednn = reader.optional<double>("onednn");
  return rates;
}

json measured(const Plan& plan, JobRunner& runner) {
  Job job;
  job.kind = JobKind::gemm;
  job.threads = plan.threads;
  const JobOutcome outcome = ask_worker(job, {plan.timeout_s}, runner, "the first run");
  if (!outcome.result) {
    throw DeviceError("the two products could not be measured: " +
                      printable(outcome.reason.value_or("the worker did not answer")));
  }
  return outcome.result->facts;
}

}  // namespace

GemmRates measure_gemm(const Plan& plan, JobRunner& runner) {
  const std::string key = probe_key("cpu", plan.threads) + "\ngemm";
  try {
    if (const std::optional<json> kept = load_probe(key)) return rates_from(*kept);
  } catch (const JsonFieldError&) {  // a damaged file: measured again
  }
  const json facts = measured(plan, runner);
  try {
    const GemmRates rates = rates_from(facts);
    save_probe(key, facts);
    return rates;
  } catch (const JsonFieldError& error) {
    throw DeviceError(std::string("the two products could not be measured: ") + error.what());
  } catch (const FileError&) {  // not kept for later, that is all
    return rates_from(facts);
  }
}

std::string gemm_note(const Plan& plan) {
  if (!plan.gemm_rates_unknown.empty()) {
    return "fp32 linear layers by PyTorch's default: " + plan.gemm_rates_unknown;
  }
  if (!plan.gemm_rates) return "";
  const double ours = plan.gemm_rates->by_default;
  const std::optional<double>& onednn = plan.gemm_rates->onednn;
  if (!onednn) return "fp32 linear layers by PyTorch's default: this LibTorch has no oneDNN";
  return plan.job.gemm == "onednn"
             ? fmt::format(
                   "fp32 linear layers by oneDNN: {:.2g} TFLOP/s here, {:.2g} by PyTorch's "
                   "default",
                   *onednn, ours)
             : fmt::format(
                   "fp32 linear layers by PyTorch's default: {:.2g} TFLOP/s here, {:.2g} by "
                   "oneDNN",
                   ours, *onednn);
}

}  // namespace precbench
