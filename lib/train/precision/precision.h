// What one precision mode does around a training step. The hooks and their order are Lightning
// Fabric's: convert_module once; then per step convert_input, forward inside forward_scope(),
// convert_output, loss outside the scope, backward, step.
#pragma once

#include <memory>

#include "common/modes.h"
#include "train/base/torch.h"
#include "train/models/model.h"
#include "train/optim/optimizer.h"
#include "train/precision/float8_layers.h"
#include "train/precision/grad_scaler.h"
#include "train/precision/scopes.h"

namespace precbench::train {

// Both are float32 scalars on the device, so that nobody has to wait for them; undefined without a
// scaler.
struct StepOutcome {
  torch::Tensor skipped;  // 1 where a non-finite gradient kept the weights as they were, else 0
  torch::Tensor scale;    // after the step
};

class Precision {
 public:
  Precision() = default;
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;
  virtual ~Precision() = default;

  // Casts floating parameters and buffers in place; integer buffers (BatchNorm's
  // num_batches_tracked) stay, unlike torch::nn::Module::to(dtype).
  virtual void convert_module(torch::nn::Module& module) = 0;

  // Floating tensors of any shape to the mode's input dtype; integer, bool and complex ones are
  // returned as they are.
  virtual torch::Tensor convert_input(const torch::Tensor& input) const = 0;

  // Entered for a forward pass, left before the backward pass. May be null.
  virtual std::unique_ptr<ForwardScope> forward_scope() const = 0;

  // Default dtype under which `--init module` draws the weights, as Fabric.init_module(). May be
  // null.
  virtual std::unique_ptr<ForwardScope> init_scope() const { return nullptr; }

  // Floating tensors to the global default dtype (float32).
  virtual torch::Tensor convert_output(const torch::Tensor& output) const = 0;

  virtual void backward(const torch::Tensor& loss) { loss.backward(); }

  // Before clipping: gradients in units of the loss. Only a mode with a scaler has work here.
  virtual void unscale_gradients(Optimizer& /*optimizer*/) {}

  // Steps the optimizer, or skips where the mode's scaler says so.
  virtual StepOutcome step(Optimizer& optimizer) {
    optimizer.step();
    return {};
  }

  virtual GradScaler* scaler() { return nullptr; }

  // The FP8 side, null in modes that have none.
  virtual Float8Layers* float8() { return nullptr; }

  // One forward pass with all of the above; the result is float32.
  torch::Tensor forward(Model& model, const torch::Tensor& input) const;
};

// The implementation for a mode of the table.
std::unique_ptr<Precision> make_precision(const ModeTraits& mode, at::DeviceType device,
                                          const Float8Settings& float8 = {});

// Floating tensors to `dtype`, others as they are: Fabric's rule for inputs and outputs.
torch::Tensor convert_floating(const torch::Tensor& tensor, at::ScalarType dtype);

}  // namespace precbench::train
