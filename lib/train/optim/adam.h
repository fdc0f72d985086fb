// Adam and AdamW (decoupled weight decay), as torch.optim.Adam and torch.optim.AdamW.
#pragma once

#include "train/optim/optimizer.h"

namespace precbench::train {

struct AdamOptions {
  double lr, beta1, beta2, eps, weight_decay;
  bool decoupled_weight_decay;  // AdamW
};

// What the three share: options and both moments, made at a parameter's first step as in Python.
class Adam : public Optimizer {
 public:
  Adam(std::vector<torch::Tensor> parameters, const AdamOptions& options);
  std::vector<torch::Tensor> state() const override;
  void exchange(RunState& state) override;

 protected:
  struct Moments {
    std::vector<torch::Tensor> first, second;  // of the active parameters
  };
  Moments moments_of(const Active& active);

  using Optimizer::exchange;

  AdamOptions options_;
  std::vector<torch::Tensor> exp_avgs_, exp_avg_sqs_;  // one per parameter
};

class LoopAdam : public Adam {
 public:
  LoopAdam(std::vector<torch::Tensor> parameters, const AdamOptions& options);
  void step() override;
  void exchange(RunState& state) override;

 private:
  std::vector<int64_t> steps_;  // one per parameter
};

class ForeachAdam : public Adam {
 public:
  ForeachAdam(std::vector<torch::Tensor> parameters, const AdamOptions& options);
  void step() override;
  void exchange(RunState& state) override;

 private:
  std::vector<int64_t> steps_;
};

class FusedAdam : public Adam {
 public:
  FusedAdam(std::vector<torch::Tensor> parameters, const AdamOptions& options);
  void step() override;
  bool takes_scaled_gradients() const override { return true; }
  void step_scaled(const torch::Tensor& grad_scale, const torch::Tensor& found_inf) override;
  void exchange(RunState& state) override;

 private:
  void apply(const std::optional<torch::Tensor>& grad_scale,
             const std::optional<torch::Tensor>& found_inf);

  std::vector<torch::Tensor> steps_;  // float32 scalars on the parameters' device
};

}  // namespace precbench::train
