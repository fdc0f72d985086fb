#include "train/precision/true_precision.h"

#include "train/base/dtypes.h"

namespace precbench::train {

TruePrecision::TruePrecision(const ModeTraits& mode) : dtype_(scalar_type(mode.parameters)) {}

void TruePrecision::convert_module(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  const auto convert = [this](torch::Tensor tensor) {
    if (tensor.defined() && tensor.is_floating_point()) tensor.set_data(tensor.to(dtype_));
  };
  for (const torch::Tensor& parameter : module.parameters()) convert(parameter);
  for (const torch::Tensor& buffer : module.buffers()) convert(buffer);
}

torch::Tensor TruePrecision::convert_input(const torch::Tensor& input) const {
  return convert_floating(input, dtype_);
}

std::unique_ptr<ForwardScope> TruePrecision::forward_scope() const {
  return std::make_unique<DefaultDtypeScope>(dtype_);
}

torch::Tensor TruePrecision::convert_output(const torch::Tensor& output) const {
  return convert_floating(output, c10::typeMetaToScalarType(torch::get_default_dtype()));
}

}  // namespace precbench::train
