#include "train/precision/transformer_engine.h"

#include <exception>
#include <utility>

namespace precbench::train {
namespace {

class Float8Scope : public ForwardScope {
 public:
  Float8Scope(at::DeviceType device, at::ScalarType dtype, Float8Layers& layers,
              std::exception_ptr& failure)
      : default_dtype_(dtype), autocast_(device, dtype), layers_(layers), failure_(failure) {}
  // Must not throw, and must not allocate where the forward pass has just run out of memory.
  ~Float8Scope() override {
    if (!torch::GradMode::is_enabled() || std::uncaught_exceptions() > 0) return;
    try {
      layers_.end_forward();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

 private:
  DefaultDtypeScope default_dtype_;
  AutocastScope autocast_;
  Float8Layers& layers_;
  std::exception_ptr& failure_;
};

}  // namespace

TransformerEnginePrecision::TransformerEnginePrecision(const ModeTraits& mode,
                                                       at::DeviceType device,
                                                       const Float8Settings& float8)
    : TruePrecision(mode), device_(device), layers_(float8) {}

void TransformerEnginePrecision::convert_module(torch::nn::Module& module) {
  TruePrecision::convert_module(module);
  layers_.attach(module);
}

std::unique_ptr<ForwardScope> TransformerEnginePrecision::forward_scope() const {
  return std::make_unique<Float8Scope>(device_, dtype(), layers_, failure_);
}

std::unique_ptr<ForwardScope> TransformerEnginePrecision::init_scope() const {
  return std::make_unique<DefaultDtypeScope>(dtype());
}

void TransformerEnginePrecision::backward(const torch::Tensor& loss) {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  loss.backward();
  layers_.end_backward();
}

}  // namespace precbench::train
