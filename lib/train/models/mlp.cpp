// pixels-512-512-classes with ReLU: the workload where overhead, not arithmetic, decides.
#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/registry.h"

namespace precbench::train::mlp {
namespace {

class Mlp : public Model {
 public:
  Mlp(const SampleShape& shape, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  Linear fc1_{nullptr}, fc2_{nullptr}, fc3_{nullptr};
};

Mlp::Mlp(const SampleShape& shape, GemmBackend gemm) {
  constexpr int64_t kHidden = 512;
  fc1_ = register_module("fc1", Linear(shape.channels * shape.height * shape.width, kHidden, gemm));
  fc2_ = register_module("fc2", Linear(kHidden, kHidden, gemm));
  fc3_ = register_module("fc3", Linear(kHidden, shape.classes, gemm));
}

torch::Tensor Mlp::forward(const torch::Tensor& input) {
  torch::Tensor x = torch::relu(fc1_->forward(torch::flatten(input, 1)));
  x = torch::relu(fc2_->forward(x));
  return fc3_->forward(x);
}

const ModelRegistration kRegistration("mlp", construct<Mlp>);

}  // namespace
}  // namespace precbench::train::mlp
