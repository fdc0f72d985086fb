// Watches which dtypes matrix products and convolutions really get, and what they cost, by a
// callback that LibTorch calls at every operation. For one step: a watched operation is slower.
#pragma once

#include <ATen/record_function.h>

#include <optional>
#include <set>
#include <string>

#include "train/measure/observer.h"

namespace precbench::train {

struct ObservedDtypes {
  std::set<at::ScalarType> compute;  // inputs of matmuls and convolutions
  // Inputs of batched products, which here belong to attention: where no fused kernel takes bf16 (a
  // T4), PyTorch multiplies in float32 copies.
  std::set<at::ScalarType> attention;
  std::optional<at::ScalarType> autocast;  // dtype of the autocast region, if there was one
  // Of all of them, forward and backward: a multiplication with its addition counts as two.
  double flops = 0;
};

class DtypeObserver {
 public:
  explicit DtypeObserver(at::DeviceType device);
  ~DtypeObserver();
  DtypeObserver(const DtypeObserver&) = delete;
  DtypeObserver& operator=(const DtypeObserver&) = delete;

  ObservedDtypes observed() const;

 private:
  at::CallbackHandle handle_;
};

// What the first step worked with. Nothing before it.
class DtypeWatch : public Observer {
 public:
  DtypeWatch(at::DeviceType device, const Optimizer& optimizer)
      : device_(device), optimizer_(optimizer) {}

  void before_step(int64_t step) override {
    if (step == 0) observer_.emplace(device_);
  }
  void before_update() override {
    if (observer_) gradient_ = optimizer_.first_gradient().scalar_type();
  }
  void after_step(Step& /*step*/) override {
    if (!observer_) return;
    observed_ = observer_->observed();
    observer_.reset();
  }

  void exchange(RunState& state) {
    ObservedDtypes seen = observed_.value_or(ObservedDtypes());
    bool has_seen = observed_.has_value();
    state.value("dtypes.has_seen", has_seen);
    state.value("dtypes.compute", seen.compute);
    state.value("dtypes.attention", seen.attention);
    state.value("dtypes.autocast", seen.autocast);
    state.value("dtypes.flops", seen.flops);
    state.value("dtypes.gradient", gradient_);
    if (has_seen) observed_ = seen;
  }

  const std::optional<ObservedDtypes>& observed() const { return observed_; }
  const std::optional<at::ScalarType>& gradient() const { return gradient_; }

 private:
  at::DeviceType device_;
  const Optimizer& optimizer_;
  std::optional<DtypeObserver> observer_;
  std::optional<ObservedDtypes> observed_;
  std::optional<at::ScalarType> gradient_;
};

}  // namespace precbench::train
