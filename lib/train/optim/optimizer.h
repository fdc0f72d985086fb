// PyTorch's optimizers, each in three implementations: `loop` (one tensor after the other, Python's
// default on the CPU), `foreach` (Python's default on CUDA) and `fused` (one kernel). Own code and
// not torch::optim: that one multiplies by a scalar in the other operand order, which rounds the
// scalar in the half formats, and its AdamW uses other operations than Python's.
#pragma once

#include <memory>
#include <vector>

#include "common/job.h"
#include "train/base/run_state.h"
#include "train/base/torch.h"

namespace precbench::train {

class Optimizer {
 public:
  // Parameters of any shape, all of one dtype and on one device.
  Optimizer(std::vector<torch::Tensor> parameters, double learning_rate);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // zero_grad(set_to_none=True).
  void drop_gradients();

  virtual void step() = 0;

  // Whether step_scaled() takes gradients that are still multiplied by the scale (PyTorch's
  // _step_supports_amp_scaling): true for the fused kernels.
  virtual bool takes_scaled_gradients() const { return false; }

  // A step decided inside the kernel: gradients are divided by `grad_scale` (undefined = they are
  // unscaled already), and nothing moves where found_inf is 1. Both are float32 scalars on the
  // device.
  virtual void step_scaled(const torch::Tensor& grad_scale, const torch::Tensor& found_inf);

  // Momentum buffers or moments, without step counters; empty before the first step.
  virtual std::vector<torch::Tensor> state() const = 0;

  // All that it keeps between steps, under names of its own; the parameters are the model's.
  virtual void exchange(RunState& state) = 0;

  const std::vector<torch::Tensor>& parameters() const { return parameters_; }

  // Of the first parameter that has one: a user's module may have others that it does not use.
  // Throws std::invalid_argument where none has.
  torch::Tensor first_gradient() const;
  double learning_rate() const { return learning_rate_; }
  void set_learning_rate(double value);

  // From now on the fused kernels read the rate from the device's memory, as float32, so that a
  // recorded step follows the schedule. The other implementations compute with it on the host.
  void keep_rate_on_device();

 protected:
  // One tensor for each parameter.
  void exchange(RunState& state, const std::string& name, std::vector<torch::Tensor>& each) const;

  // The parameters that have a gradient, with their gradients and their places in parameters().
  struct Active {
    std::vector<size_t> indices;
    std::vector<torch::Tensor> parameters, gradients;
  };
  Active active() const;
  const torch::Tensor& rate_on_device() const { return rate_; }  // undefined: it is not kept there

 private:
  std::vector<torch::Tensor> parameters_;
  double learning_rate_;
  torch::Tensor rate_;
};

// Throws UnsupportedError where an implementation does not work on these parameters, and
// std::invalid_argument for a name that is not known.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerJob& job,
                                          std::vector<torch::Tensor> parameters);

}  // namespace precbench::train
