#pragma once

// What the worker uses of LibTorch's C++ API, for precompiling. torch/torch.h would bring its data
// loaders, optimizers and every layer as well, which take a third longer to read.
#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <nlohmann/json.hpp>
