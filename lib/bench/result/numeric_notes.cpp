#include "bench/result/numeric_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/result/measured.h"
#include "common/modes.h"

namespace precbench {
namespace {

const RunRecord* first_run(const ModeRecord& mode) {
  const auto runs = measured_runs(mode);
  return runs.empty() ? nullptr : runs.front();
}

const RunRecord* run_with_seed(const ModeRecord& mode, int64_t seed) {
  for (const RunRecord* run : measured_runs(mode)) {
    if (run->seed == seed) return run;
  }
  return nullptr;
}

// Sum over a window; nothing where one of its losses is unknown.
std::optional<double> window_sum(const Samples& losses, size_t begin) {
  double sum = 0;
  for (size_t i = begin; i < begin + static_cast<size_t>(kLossWindow); ++i) {
    if (!losses[i]) return std::nullopt;
    sum += *losses[i];
  }
  return sum;
}

std::optional<double> figure(const RunRecord& run, const char* key) {
  const auto found = run.numerics.find(key);
  if (found == run.numerics.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// How much more than in the reference.
double excess(const RunRecord& run, const RunRecord* reference, const char* key) {
  const auto value = figure(run, key);
  const auto base = reference == nullptr ? std::nullopt : figure(*reference, key);
  return value ? *value - base.value_or(0.0) : 0.0;
}

std::optional<int64_t> bytes_of(const RunRecord& run, const char* key) {
  const auto found = run.memory.breakdown.find(key);
  if (found == run.memory.breakdown.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace

std::optional<LossDivergence> loss_divergence(const RunRecord& run, const RunRecord& reference) {
  if (run.seed != reference.seed || run.loss_trace_stride != reference.loss_trace_stride) {
    return std::nullopt;
  }
  const size_t steps = std::min(run.loss_trace.size(), reference.loss_trace.size());
  const auto window = static_cast<size_t>(kLossWindow);
  if (steps < window) return std::nullopt;
  LossDivergence found;
  for (size_t begin = 0; begin + window <= steps; ++begin) {
    const auto ours = window_sum(run.loss_trace, begin);
    const auto base = window_sum(reference.loss_trace, begin);
    if (!ours || !base || *base == 0) continue;
    const double difference = std::abs(*ours - *base) / std::abs(*base);
    const auto last = static_cast<int64_t>(begin + window - 1) * run.loss_trace_stride;
    if (difference > found.largest) {
      found.largest = difference;
      found.largest_at = last;
    }
    if (difference > kLossBand && !found.beyond_since) found.beyond_since = last;
  }
  return found;
}

json loss_divergence_json(const ModeRecord& mode, const ModeRecord& reference) {
  const RunRecord* run = first_run(mode);
  const RunRecord* base = run == nullptr ? nullptr : run_with_seed(reference, run->seed);
  const auto found = base == nullptr ? std::nullopt : loss_divergence(*run, *base);
  if (!found) return nullptr;
  json object = {{"largest", found->largest},
                 {"largest_at", found->largest_at},
                 {"beyond_since", nullable(found->beyond_since)},
                 {"band", kLossBand},
                 {"window", kLossWindow},
                 {"unknown", json::object()}};
  if (!found->beyond_since) {
    object["unknown"]["beyond_since"] = "the averaged losses stayed within the band";
  }
  return object;
}

std::string numeric_note(const ModeRecord& mode, const ModeRecord* reference) {
  const RunRecord* run = first_run(mode);
  if (run == nullptr) return "";
  const bool is_reference = &mode == reference;
  const RunRecord* base =
      reference == nullptr || is_reference ? nullptr : run_with_seed(*reference, run->seed);
  std::string note;
  const auto add = [&note](const std::string& words) {
    note += (note.empty() ? "" : ", ") + words;
  };
  if (const double stalled = excess(*run, base, "unmoved_weight_share");
      stalled >= kRemarkableShare) {
    add(percent(stalled) + " of weights stall");
  }
  // Gradients that are zero in every mode (dead units, constant pixels) are the model's own.
  const double vanished =
      excess(*run, base, "zero_gradient_share") + excess(*run, base, "subnormal_gradient_share");
  if (base != nullptr && vanished >= kRemarkableShare) {
    add(percent(vanished) + " more gradients vanish");
  }
  const auto drift = base == nullptr ? std::nullopt : loss_divergence(*run, *base);
  if (drift && drift->beyond_since) {
    add(fmt::format("loss drifts from step {}", *drift->beyond_since));
  }
  return note;
}

std::string memory_note(const ModeRecord& mode, const ModeRecord& reference) {
  const ModeTraits* traits = find_mode(mode.effective_mode);
  const RunRecord* run = first_run(mode);
  const RunRecord* base = first_run(reference);
  const bool keeps_float32 = traits != nullptr && traits->family == PrecisionFamily::mixed;
  if (!keeps_float32 || run == nullptr || base == nullptr) return "";
  const auto peak = run->memory.peak_allocated_bytes;
  const auto base_peak = base->memory.peak_allocated_bytes;
  if (!peak || !base_peak || *peak <= 0 || *base_peak <= 0) return "";
  const double saved = 1 - static_cast<double>(*peak) / static_cast<double>(*base_peak);
  if (saved >= kExpectedSaving) return "";
  int64_t kept = 0;
  for (const char* part : {"weights_bytes", "gradients_bytes", "optimizer_bytes"}) {
    const auto bytes = bytes_of(*run, part);
    if (!bytes) return "";
    kept += *bytes;
  }
  const double share = static_cast<double>(kept) / static_cast<double>(*peak);
  if (share < kMostOfThePeak) return "";  // then they are not why
  return fmt::format("{} keeps float32 weights, gradients and optimizer state: {} of its peak",
                     mode.mode, percent(share));
}

}  // namespace precbench
