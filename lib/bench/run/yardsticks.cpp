#include "bench/run/yardsticks.h"

#include <algorithm>

#include "bench/judge/ceiling.h"
#include "bench/predict/prediction.h"
#include "bench/probe/ceiling.h"
#include "bench/probe/probe_cache.h"

namespace precbench {

Yardsticks::Yardsticks(const Plan& plan, const DeviceChoice& device, Console& console)
    : plan_(plan), device_(device), console_(console) {
  for (const std::string& name : {plan.device, std::string("auto"), device.name}) {
    if (!probe_) probe_ = load_probe(probe_key(name, plan.threads));
  }
}

void Yardsticks::predict(JobRunner& runner) {
  if (device_.facts.kind != "cuda") return;
  predicted_ = predicted_peaks(plan_, device_.facts, runner);
  if (predicted_.empty()) console_.detail("no prediction of the memory is to be had");
}

void Yardsticks::note_prediction(ModeRecord& row) const {
  const auto predicted = predicted_.find(row.mode);
  const auto measured = row.runs.back().memory.peak_allocated_bytes;
  if (predicted == predicted_.end() || !measured) return;
  const std::string note = beside_measurement(*measured, predicted->second);
  if (std::find(row.notes.begin(), row.notes.end(), note) == row.notes.end()) {
    row.notes.push_back(note);
  }
}

std::optional<Mark> Yardsticks::set_beside(ModeRecord& row, bool counts) {
  if (counts) note_prediction(row);
  const ModeTraits* mode = find_mode(row.effective_mode);
  if (mode == nullptr) return std::nullopt;
  row.ceiling = ceiling_of(*mode, device_.facts, probe_);
  return device_.facts.kind == "cuda" ? too_small_mark(row) : std::nullopt;
}

}  // namespace precbench
