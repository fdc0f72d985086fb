// pixels-512-512-classes with ReLU: the workload where overhead, not arithmetic, decides.
#pragma once

#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/registry.h"

namespace precbench::train {

class Mlp : public Model {
 public:
  Mlp(const SampleShape& shape, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  Linear fc1_{nullptr}, fc2_{nullptr}, fc3_{nullptr};
};

}  // namespace precbench::train
