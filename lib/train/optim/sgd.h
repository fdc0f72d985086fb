// Stochastic gradient descent with momentum (dampening 0), as torch.optim.SGD.
#pragma once

#include "train/optim/optimizer.h"

namespace precbench::train {

struct SgdOptions {
  double lr, momentum, weight_decay;
  bool nesterov;
};

// What the three share: options and momentum buffers, which stay undefined until a parameter's
// first step.
class Sgd : public Optimizer {
 public:
  Sgd(std::vector<torch::Tensor> parameters, const SgdOptions& options);
  std::vector<torch::Tensor> state() const override;
  void exchange(RunState& state) override { Optimizer::exchange(state, "momentum", buffers_); }

 protected:
  SgdOptions options_;
  std::vector<torch::Tensor> buffers_;  // one per parameter
};

class LoopSgd : public Sgd {
 public:
  using Sgd::Sgd;
  void step() override;
};

class ForeachSgd : public Sgd {
 public:
  using Sgd::Sgd;
  void step() override;
};

class FusedSgd : public Sgd {
 public:
  using Sgd::Sgd;
  void step() override;
  bool takes_scaled_gradients() const override { return true; }
  void step_scaled(const torch::Tensor& grad_scale, const torch::Tensor& found_inf) override;

 private:
  void apply(const std::optional<torch::Tensor>& grad_scale,
             const std::optional<torch::Tensor>& found_inf);
};

}  // namespace precbench::train
