#include "train/simulated_gpu/timeline.h"

#include <ATen/Context.h>

#include <algorithm>

namespace precbench::train::simulated {
namespace {

// Round figures of PyTorch on a PCIe 3 card. What the tests say must hold for any of them.
constexpr double kLaunchSeconds = 5e-6;   // of the host, for one operation
constexpr double kReplaySeconds = 10e-6;  // for a whole graph
constexpr double kShortestKernel = 2e-6;
constexpr double kWakeUpSeconds = 10e-6;  // from the card's end to the host's next line
constexpr double kBusBytesPerSecond = 12e9;
constexpr double kCopySeconds = 10e-6;  // beside what the bytes take
constexpr size_t kLongestQueue = 1024;  // launches; the next waits for a place

// For cards without a data sheet: the clock needs some rate.
constexpr DataSheet kSomeCard = {"", 0.3, 10, 0, 40, 0, 0, 400, 4};

constexpr double kTera = 1e12, kGiga = 1e9, kMega = 1e6;

}  // namespace

void Timeline::insert(const GpuCard& card) {
  *this = Timeline();
  sheet_ = find_data_sheet(card.name);
}

// What has no units of its own is computed in float32 or converted to it.
double Timeline::rate_of(const Kernel& kernel) const {
  const DataSheet& sheet = sheet_ != nullptr ? *sheet_ : kSomeCard;
  double rate = 0;
  switch (kernel.type) {
    case at::kDouble:
      rate = sheet.float64;
      break;
    case at::kHalf:
      rate = sheet.float16;
      break;
    case at::kBFloat16:
      rate = sheet.bfloat16;
      break;
    case at::kFloat8_e4m3fn:
    case at::kFloat8_e5m2:
      rate = sheet.float8;
      break;
    default:
      rate = kernel.may_use_tf32 ? sheet.tf32 : 0;
  }
  return (rate > 0 ? rate : sheet.float32) * kTera;
}

void Timeline::launch(const Kernel& kernel) {
  const DataSheet& sheet = sheet_ != nullptr ? *sheet_ : kSomeCard;
  const double compute = kernel.flops / rate_of(kernel);
  double bytes = 0, beyond_cache = 0;
  for (const int64_t operand : kernel.operands) {
    bytes += static_cast<double>(operand);
    beyond_cache += std::max(0.0, static_cast<double>(operand) - sheet.l2_mb * kMega);
  }
  const double bandwidth = sheet.memory_gb_s * kGiga;
  if (kernel.is_training) {
    least_ += std::max(compute / kernel.shortcut, beyond_cache / bandwidth);
  }
  const double seconds = kShortestKernel + std::max(compute, bytes / bandwidth);
  if (is_recording_) {
    recorded_ += seconds;
    return;
  }
  host_ += kLaunchSeconds;
  issue(seconds);
}

void Timeline::issue(double seconds) {
  ++launches_;
  while (!queue_.empty() && queue_.front() <= host_) queue_.pop_front();
  if (queue_.size() >= kLongestQueue) {
    host_ = queue_.front();
    queue_.pop_front();
  }
  card_ = std::max(card_, host_) + seconds;
  queue_.push_back(card_);
}

void Timeline::copy_from_host(int64_t bytes, bool waits) {
  host_ += kLaunchSeconds;
  issue(kCopySeconds + static_cast<double>(bytes) / kBusBytesPerSecond);
  if (waits) wait_for(Wait::copy_from_pageable);
}

void Timeline::copy_to_host(int64_t bytes) {
  host_ += kLaunchSeconds;
  issue(kCopySeconds + static_cast<double>(bytes) / kBusBytesPerSecond);
  wait_for(bytes <= static_cast<int64_t>(sizeof(double)) ? Wait::read_value : Wait::copy_to_host);
}

void Timeline::wait_for(Wait why) {
  TORCH_CHECK(!is_recording_, "CUDA error: operation not permitted when stream is capturing");
  ++waits_[why];
  host_ = std::max(host_, card_) + kWakeUpSeconds;
  queue_.clear();
}

double Timeline::mark() { return std::max(host_, card_); }

void Timeline::begin_recording() {
  is_recording_ = true;
  recorded_ = 0;
}

double Timeline::end_recording() {
  is_recording_ = false;
  return recorded_;
}

void Timeline::replay(double seconds) {
  host_ += kReplaySeconds;
  issue(seconds);
}

int64_t Timeline::waits(Wait why) const {
  const auto found = waits_.find(why);
  return found == waits_.end() ? 0 : found->second;
}

int64_t Timeline::waits() const {
  int64_t sum = 0;
  for (const auto& [why, count] : waits_) sum += count;
  return sum;
}

std::optional<double> Timeline::least_seconds() const {
  return sheet_ != nullptr ? std::optional(least_) : std::nullopt;
}

}  // namespace precbench::train::simulated
