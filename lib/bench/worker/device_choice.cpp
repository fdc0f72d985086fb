#include "bench/worker/device_choice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "bench/platform/cpu.h"
#include "bench/worker/ask_worker.h"
#include "common/errors.h"
#include "common/printable.h"

namespace precbench {
namespace {

// Why the worker's LibTorch sees no CUDA device; it knows (no driver, a driver too old, no CUDA in
// this LibTorch).
std::string cuda_reason(const json& facts) {
  const auto cuda = facts.find("cuda");
  if (cuda != facts.end() && cuda->is_object()) {
    const auto reason = cuda->find("reason");
    if (reason != cuda->end() && reason->is_string()) return printable(reason->get<std::string>());
  }
  return "the worker lists no CUDA device";
}

bool lists_device(const json& facts, const std::string& name) {
  const auto devices = facts.find("devices");
  if (devices == facts.end() || !devices->is_array()) return false;
  for (const json& device : *devices) {
    if (device.is_object() && device.value("id", device.value("kind", "")) == name) return true;
  }
  return false;
}

std::string missing_for_ranks(const json& facts) {
  const json::json_pointer place("/ranks/missing");
  const bool is_told = facts.contains(place) && facts.at(place).is_string();
  return is_told ? printable(facts.at(place).get<std::string>()) : "";
}

std::string resolved_name(const Plan& plan, const json& facts) {
  if (plan.device == "auto") return lists_device(facts, "cuda:0") ? "cuda:0" : "cpu";
  if (plan.device == "cuda") return "cuda:0";
  return plan.device;
}

}  // namespace

Job job_on(const DeviceChoice& device, const Plan& plan, TrainJob train) {
  Job job;
  job.kind = JobKind::train;
  job.device = device.name;
  job.threads = plan.threads;
  job.parent_pid = getpid();
  job.train = std::move(train);
  if (plan.launch.size > 1) {
    job.rank = plan.launch.rank;
    job.meeting = plan.launch.place;
    job.threads = std::max<int64_t>(1, plan.threads / plan.launch.local_size);
  }
  return job;
}

DeviceChoice choose_device(const Plan& plan, JobRunner& runner) {
  Job job;
  job.kind = JobKind::describe;
  job.device = plan.device;
  job.threads = plan.threads;
  const JobOutcome outcome = ask_worker(job, {plan.timeout_s}, runner, "the first run");
  if (!outcome.result) {
    throw DeviceError(outcome.reason.value_or("the worker did not answer"));
  }
  DeviceChoice choice;
  choice.worker_facts = outcome.result->facts;
  if (!choice.worker_facts.is_object())
    throw DeviceError("the worker did not describe its devices");
  if (const std::string missing = missing_for_ranks(choice.worker_facts);
      plan.job.devices > 1 && !missing.empty()) {
    throw DeviceError(fmt::format("--devices {}: {}", plan.job.devices, missing));
  }
  choice.libtorch = outcome.hello ? printable(outcome.hello->libtorch) : "unknown";
  choice.name = resolved_name(plan, choice.worker_facts);
  const bool wants_cuda = choice.name.rfind("cuda", 0) == 0;
  if (wants_cuda && !lists_device(choice.worker_facts, choice.name)) {
    throw DeviceError(
        "--device " + plan.device + " cannot be used: " + cuda_reason(choice.worker_facts) +
        "\n       `precbench list devices` shows what there is; --device cpu runs without a GPU");
  }
  if (plan.job.devices > 1 && choice.name != "cpu") {
    throw DeviceError(fmt::format(
        "--devices {}: several devices are several workers on the CPU so far; use --device cpu",
        plan.job.devices));
  }
  if (plan.device == "auto" && choice.name == "cpu") {
    choice.notes.push_back("running on the CPU: " + cuda_reason(choice.worker_facts));
  }
  choice.facts = device_facts_from(choice.worker_facts, choice.name, read_cpu_facts());
  return choice;
}

}  // namespace precbench
