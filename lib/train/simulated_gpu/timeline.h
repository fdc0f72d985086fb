// The simulated card's time: a host that issues kernels and a card that does them one after the
// other, later. Nothing takes that time; it is added up. What a kernel takes is a model (the
// roofline of the card's data sheet), good for seeing who waits for whom, not for telling how long
// a step is on a card. One thread at a time.
#pragma once

#include <deque>
#include <map>
#include <string_view>
#include <vector>

#include "common/data_sheets.h"
#include "common/gpu_cards.h"
#include "train/base/torch.h"

namespace precbench::train::simulated {

// What one kernel does.
struct Kernel {
  double flops = 0;                  // of matrix products and convolutions
  at::ScalarType type = at::kFloat;  // that they are computed in
  bool may_use_tf32 = false;         // where `type` is float32
  double shortcut = 1;               // by how much a clever algorithm may do with fewer
  std::vector<int64_t> operands;     // bytes read and written, one for each tensor
  bool is_training = true;           // counts for least_seconds()
};

// Why the host waited for the card.
enum class Wait { synchronize, read_value, copy_to_host, copy_from_pageable };

class Timeline {
 public:
  // The card that the rates are of; starts anew.
  void insert(const GpuCard& card);

  void launch(const Kernel& kernel);
  // Over the bus: behind what was issued. The host waits for it unless the memory is pinned.
  void copy_from_host(int64_t bytes, bool waits);
  void copy_to_host(int64_t bytes);
  void wait_for(Wait why);
  void host_works(double seconds) { host_ += seconds; }

  // A point in the card's work: when all that was issued before is done.
  double mark();
  double host_seconds() const { return host_; }

  // From begin to end kernels are added up and not done (a graph that is recorded).
  void begin_recording();
  double end_recording();       // seconds on the card
  void replay(double seconds);  // as one launch
  bool is_recording() const { return is_recording_; }

  int64_t waits(Wait why) const;
  int64_t waits() const;  // for whatever reason
  int64_t launches() const { return launches_; }

  // Seconds that all kernels so far take on the card at least: each by its data sheet's rate, or by
  // what does not fit in its cache at its memory's bandwidth. Copies over the bus, launches and
  // pauses are left out. Nothing where there is no data sheet.
  std::optional<double> least_seconds() const;

 private:
  void issue(double seconds);
  double rate_of(const Kernel& kernel) const;

  const DataSheet* sheet_ = nullptr;
  double host_ = 0, card_ = 0;  // the host's now; when the card will be done
  double least_ = 0, recorded_ = 0;
  bool is_recording_ = false;
  std::deque<double> queue_;  // ends of what was issued and is not done
  std::map<Wait, int64_t> waits_;
  int64_t launches_ = 0;
};

}  // namespace precbench::train::simulated
