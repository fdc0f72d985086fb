#include "train/measure/memory_split.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace precbench::train {
namespace {

// Called by autograd when a parameter's gradient is complete.
class NoteGradient final : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit NoteGradient(DeviceModule& device) : device_(device) {}
  void operator()(const torch::Tensor& parameter) override {
    device_.mark_memory(parameter.grad(), MemoryUse::gradients);
  }

 private:
  DeviceModule& device_;
};

}  // namespace

MemorySplit::MemorySplit(DeviceModule& device) : device_(device) {
  device_.mark_all_memory(MemoryUse::resident);
}

void MemorySplit::note_model(Model& model) {
  if (!device_.is_simulated()) return;
  for (const torch::Tensor& parameter : model.parameters()) {
    device_.mark_memory(parameter, MemoryUse::weights);
    torch::autograd::impl::set_post_acc_grad_hooks(parameter,
                                                   std::make_unique<NoteGradient>(device_));
  }
  for (const torch::Tensor& buffer : model.buffers()) {
    device_.mark_memory(buffer, MemoryUse::weights);
  }
}

void MemorySplit::note_optimizer(const Optimizer& optimizer) {
  for (const torch::Tensor& state : optimizer.state()) {
    device_.mark_memory(state, MemoryUse::optimizer);
  }
}

std::optional<json> MemorySplit::refined(std::optional<json> breakdown) const {
  const std::vector<int64_t> bytes = device_.peak_memory_split();
  if (!breakdown) return breakdown;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto use = static_cast<MemoryUse>(i);
    if (use == MemoryUse::resident) continue;
    (*breakdown)[std::string(name_of(use)) + "_bytes"] = bytes[i];
  }
  return breakdown;
}

}  // namespace precbench::train
