#include "train/precision/precision.h"

#include <stdexcept>

#include "train/precision/full_precision.h"
#include "train/precision/mixed_precision.h"
#include "train/precision/transformer_engine.h"
#include "train/precision/true_precision.h"

namespace precbench::train {

torch::Tensor Precision::forward(Model& model, const torch::Tensor& input) const {
  torch::Tensor output;
  {
    const torch::Tensor converted = convert_input(input);
    const auto scope = forward_scope();
    output = model.forward(converted);
  }
  return convert_output(output);
}

torch::Tensor convert_floating(const torch::Tensor& tensor, at::ScalarType dtype) {
  return tensor.is_floating_point() ? tensor.to(dtype) : tensor;
}

std::unique_ptr<Precision> make_precision(const ModeTraits& mode, at::DeviceType device,
                                          const Float8Settings& float8) {
  switch (mode.family) {
    case PrecisionFamily::full:
      return std::make_unique<FullPrecision>();
    case PrecisionFamily::mixed:
      return std::make_unique<MixedPrecision>(mode, device);
    case PrecisionFamily::true_dtype:
      return std::make_unique<TruePrecision>(mode);
    case PrecisionFamily::transformer_engine:
      return std::make_unique<TransformerEnginePrecision>(mode, device, float8);
  }
  throw std::logic_error("mode " + std::string(mode.name) + " has no implementation");
}

}  // namespace precbench::train
