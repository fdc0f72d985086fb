#include "bench/probe/probe_machine.h"

#include "bench/platform/contention.h"
#include "bench/platform/environment.h"
#include "bench/probe/probe_cache.h"
#include "bench/probe/probe_report.h"
#include "bench/worker/ask_worker.h"
#include "bench/worker/device_choice.h"
#include "common/errors.h"
#include "common/printable.h"
#include "common/version.h"

namespace precbench {
namespace {

struct Measured {
  json formats;
  std::optional<std::string> busy;  // why the rates are too low
};

Measured measured(const DeviceChoice& choice, const ProbeRequest& request, JobRunner& runner) {
  Job job;
  job.kind = JobKind::probe;
  job.device = choice.name;
  job.threads = request.threads;
  const CpuSnapshot before = read_cpu_snapshot();
  const double own_before_s = own_cpu_s();
  const JobOutcome outcome = ask_worker(job, {}, runner, "the probe was done");
  if (!outcome.result || !outcome.result->facts.contains("formats")) {
    throw DeviceError("the probe did not come to its end: " +
                      printable(outcome.reason.value_or("the worker measured nothing")));
  }
  return {outcome.result->facts.at("formats"),
          busy_reason(before, read_cpu_snapshot(), outcome.cpu_s + own_cpu_s() - own_before_s)};
}

}  // namespace

json probe_machine(const ProbeRequest& request, JobRunner& runner) {
  const std::string key = probe_key(request.device, request.threads);
  if (!request.fresh) {
    if (std::optional<json> kept = load_probe(key)) {
      kept->erase("key");
      (*kept)["from_cache"] = true;
      return *kept;
    }
  }
  Plan plan;
  plan.device = request.device;
  plan.threads = request.threads;
  const DeviceChoice choice = choose_device(plan, runner);
  const auto [formats, busy] = measured(choice, request, runner);
  json modes = json::array();
  for (const ProbeRow& row : probe_rows(choice.facts, {{"formats", formats}})) {
    modes.push_back(to_json(row));
  }
  json document = {{"kind", "probe"},
                   {"tool", {{"version", tool_version()}, {"libtorch", choice.libtorch}}},
                   {"environment", environment_json(choice.facts, choice.facts.cpu, request.threads,
                                                    choice.worker_facts)},
                   {"threads", request.threads},
                   {"notes", choice.notes},
                   {"modes", modes},
                   {"formats", formats},
                   {"busy", nullable(busy)},
                   {"unknown", json::object()},
                   {"from_cache", false}};
  if (busy) {
    document["notes"].push_back(
        "these rates are too low and are not kept: while they were measured, " + *busy +
        ". Close other programs and probe again.");
    return document;
  }
  document["unknown"]["busy"] = "nothing else was busy";
  try {
    save_probe(key, document);
  } catch (const FileError& error) {  // what was measured is not lost for that
    document["notes"].push_back(std::string("not kept for later: ") + error.what());
  }
  return document;
}

}  // namespace precbench
