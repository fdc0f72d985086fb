// Shapes of what operations return that LibTorch has no meta kernel for in C++ (most of them have
// one in Python, torch/_meta_registrations.py and torch/_decomp).
#pragma once

#include <ATen/core/stack.h>

#include <string_view>

#include "train/base/torch.h"

namespace precbench::train::simulated {

enum class Shape {
  like,       // of the argument named below, with its dtype
  like_bool,  // its shape, dtype bool
  scalar,     // no dimensions, its dtype
  out_like,   // what is written to gets its shape
  broadcast   // of all tensor arguments, with their common dtype
};

struct ShapeRule {
  std::string_view operation;  // "aten::relu"
  Shape shape;
  std::string_view argument;
};

const ShapeRule* find_shape_rule(std::string_view operation);

// The result; the arguments stay on the stack.
at::Tensor apply(const ShapeRule& rule, const c10::FunctionSchema& schema,
                 const torch::jit::Stack& stack);

}  // namespace precbench::train::simulated
