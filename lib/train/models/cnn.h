// The small convolutional network of the default workload: two 3x3 convolutions (32, 64), each with
// ReLU and 2x2 max pooling, then linear layers of 128 and `classes`.
#pragma once

#include "train/models/layers.h"
#include "train/models/model.h"
#include "train/models/registry.h"

namespace precbench::train {

class Cnn : public Model {
 public:
  Cnn(const SampleShape& shape, GemmBackend gemm);
  torch::Tensor forward(const torch::Tensor& input) override;

 private:
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  Linear fc1_{nullptr}, fc2_{nullptr};
};

}  // namespace precbench::train
