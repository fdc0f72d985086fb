// Where the memory of a training step goes at its peak: weights, gradients, optimizer state,
// autocast's casts of the weights, and the rest (activations, the batch, workspace, temporaries).
//
// One step is watched, the second: from then on the optimizer has its state. Its three phases
// (forward, backward, update) have their own peaks, since the device's peak is reset at each mark;
// no mark waits for the device. Weights, gradients and states are counted from the tensors
// themselves. Which gradients are there at a peak within backward is known to one tensor: hooks see
// the peak each time that one is done.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/json_fields.h"
#include "train/base/torch.h"
#include "train/device/device_module.h"
#include "train/measure/observer.h"
#include "train/optim/optimizer.h"

namespace precbench::train {

class MemoryProfile : public Observer {
 public:
  // `resident_bytes` were allocated before the model and are left out of all figures. Resets the
  // device's peak. Keeps references.
  MemoryProfile(DeviceModule& device, const torch::nn::Module& model, const Optimizer& optimizer,
                int64_t resident_bytes, int64_t total_steps);
  ~MemoryProfile() override;

  // Whether the step (from 0) of so many in all is the one to watch.
  static bool wants(int64_t step, int64_t total_steps);

  bool looks_into(int64_t step) const override { return wants(step, total_steps_); }
  void before_step(int64_t step) override;
  void after_forward(const Batch& batch) override;
  void after_backward() override;
  void after_step(Step& step) override;

  // What is allocated between the two is no part of training: the peak of that time is not counted.
  void pause();
  void resume();

  // Between pause() and resume().
  void exchange(RunState& state);

  // Highest figure since construction.
  int64_t peak_bytes() const;

  // {weights_bytes, gradients_bytes, optimizer_bytes, autocast_bytes, activations_bytes: at the
  // highest of the step's peaks, which they add up to; peak: {phase, bytes}; points: {model,
  // gradients, optimizer: bytes of all such tensors; autocast: of casts of weights that the end of
  // the forward pass left for backward; forward, backward, step: bytes allocated at
  // the end of each}}. Nothing before that step.
  std::optional<json> breakdown() const;

 private:
  class CastObserver;
  struct Phase {
    std::string name;
    int64_t peak = 0, gradients = 0, casts = 0, optimizer = 0;
  };

  // Ends a phase: its peak is what the device saw since the last mark.
  void close(const std::string& name, int64_t gradients, int64_t casts);
  void watch_gradients();
  int64_t allocated() const;

  DeviceModule& device_;
  const torch::nn::Module& model_;
  const Optimizer& optimizer_;
  int64_t resident_bytes_, total_steps_, peak_bytes_ = 0;
  std::vector<Phase> phases_;
  json points_ = json::object();
  bool done_ = false;
  std::unique_ptr<CastObserver> casts_;
  // Within backward.
  int64_t gradients_so_far_ = 0, backward_peak_ = 0, gradients_at_peak_ = 0;
  int64_t allocated_at_hook_ = 0, casts_at_peak_ = 0;
  std::vector<unsigned> hooks_;
};

}  // namespace precbench::train
