#include "bench/run/own_batches.h"

#include <fmt/format.h>

#include <cmath>

#include "bench/plan/schedule.h"
#include "bench/run/row_batch.h"

namespace precbench {
namespace {

double factor_of(LrScale scale, int64_t batch, int64_t reference) {
  const double ratio = static_cast<double>(batch) / static_cast<double>(reference);
  if (scale == LrScale::linear) return ratio;
  return scale == LrScale::sqrt ? std::sqrt(ratio) : 1;
}

OwnBatch batch_of(const BatchSearch& search) {
  OwnBatch own;
  own.batch_size = search.largest->batch_size;
  if (search.too_large) {
    own.too_large = search.too_large->batch_size;
  } else {
    own.unknown["too_large"] = "the batch is the whole data set";
  }
  return own;
}

// The mode that --lr belongs to: the reference, else the first that has a batch.
const OwnBatch* base_of(const Plan& plan) {
  const auto reference = plan.batches.find(reference_row(plan).name());
  if (reference != plan.batches.end()) return &reference->second;
  for (const PlannedRow& row : rows_of(plan)) {
    const auto found = plan.batches.find(row.name());
    if (found != plan.batches.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace

void choose_own_batches(Plan& plan, const DeviceChoice& device, int64_t samples, JobRunner& runner,
                        Console& console, Recording& recording) {
  console.info("looking for the largest batch of each mode");
  std::map<std::string, OwnBatch> found;
  for (const PlannedRow& planned : in_turn(plan, rows_of(plan))) {
    const ModeRecord& row = recording.mode(planned.name());
    if (runner.interrupted()) return;
    if (row.own_batch) {
      found[row.mode] = *row.own_batch;
      continue;
    }
    if (row.status != Status::ok) continue;
    const RowBatch batch = find_row_batch(plan, planned, device, samples, runner, console);
    if (batch.search.largest && batch.problem.empty()) {
      found[row.mode] = batch_of(batch.search);
    } else if (!runner.interrupted()) {
      recording.set_status(row.mode, batch.not_one() ? Status::oom : Status::error,
                           batch.not_one() ? "not even one sample fits" : batch.problem);
    }
  }
  plan.batches = std::move(found);
  const OwnBatch* base = base_of(plan);
  if (base == nullptr) return;
  const int64_t reference = base->batch_size;
  for (auto& [name, own] : plan.batches) {
    own.lr = plan.job.optimizer.lr * factor_of(plan.lr_scale, own.batch_size, reference);
    recording.mode(name).own_batch = own;
  }
}

}  // namespace precbench
