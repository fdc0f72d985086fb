#include "train/simulated_gpu/kernel_cost.h"

#include <ATen/Context.h>

#include <algorithm>

#include "train/simulated_gpu/gpu.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

double count(int64_t value) { return static_cast<double>(value); }

// A multiplication and an addition are two operations.
constexpr double kMultiplyAdd = 2;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The last two of the inputs that have this rank are the factors.
std::optional<std::pair<at::Tensor, at::Tensor>> factors(const Tensors& inputs, int64_t rank) {
  Tensors found;
  for (const at::Tensor& input : inputs) {
    if (input.dim() == rank) found.push_back(input);
  }
  if (found.size() < 2) return std::nullopt;
  // out= arguments follow the factors, and addmm's first argument may have their rank.
  for (size_t i = 0; i + 1 < found.size(); ++i) {
    if (found[i].size(rank - 1) == found[i + 1].size(rank - 2)) {
      return std::pair(found[i], found[i + 1]);
    }
  }
  return std::nullopt;
}

void add_product(Kernel& kernel, const Tensors& inputs, int64_t rank) {
  const auto pair = factors(inputs, rank);
  if (!pair) return;
  const auto& [left, right] = *pair;
  const double batch = rank == 3 ? count(left.size(0)) : 1;
  kernel.flops = kMultiplyAdd * batch * count(left.size(rank - 2)) * count(left.size(rank - 1)) *
                 count(right.size(rank - 1));
  kernel.type = left.scalar_type();
  kernel.may_use_tf32 = at::globalContext().allowTF32CuBLAS();
}

// query, key, value [batch, heads, length, width]: two products forward, five backward (one of them
// the forward's again). Causal kernels leave out half.
void add_attention(Kernel& kernel, const Tensors& inputs, double products) {
  Tensors found;
  for (const at::Tensor& input : inputs) {
    if (input.dim() == 4) found.push_back(input);
  }
  if (found.size() < 3) return;
  const bool is_backward = found.size() > 3;
  const at::Tensor& query = found[is_backward ? 1 : 0];
  const at::Tensor& key = found[is_backward ? 2 : 1];
  kernel.flops = products * kMultiplyAdd * count(query.numel()) * count(key.size(2));
  kernel.type = query.scalar_type();
  kernel.shortcut = 2;
}

}  // namespace

int64_t touched_bytes(const at::Tensor& tensor) {
  int64_t elements = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) == 0) return 0;
    if (tensor.stride(i) != 0) elements *= tensor.size(i);
  }
  return elements * static_cast<int64_t>(tensor.element_size());
}

Kernel convolution_kernel(const at::Tensor& input, const at::Tensor& weight,
                          const at::Tensor& output) {
  Kernel kernel;
  double taps = 1, shared = 1;
  for (int64_t i = 2; i < weight.dim(); ++i) {
    const double stride =
        std::max(1.0, count(input.size(i)) / std::max(1.0, count(output.size(i))));
    taps *= count(weight.size(i));
    shared *= std::max(1.0, count(weight.size(i)) / stride);
  }
  kernel.flops = kMultiplyAdd * count(output.numel()) * count(weight.size(1)) * taps;
  kernel.type = input.scalar_type();
  kernel.may_use_tf32 = at::globalContext().allowTF32CuDNN();
  kernel.shortcut = shared;
  for (const at::Tensor& tensor : {input, weight, output}) {
    kernel.operands.push_back(touched_bytes(tensor));
  }
  return kernel;
}

Kernel kernel_of(std::string_view operation, const Tensors& inputs, const Tensors& outputs) {
  Kernel kernel;
  // These read what they take out, not all that is there.
  const bool is_gather =
      is_one_of(operation, {"aten::index_select", "aten::index.Tensor_out", "aten::gather.out",
                            "aten::embedding", "aten::index_select.out", "aten::gather"});
  for (const at::Tensor& output : outputs) {
    kernel.operands.insert(kernel.operands.end(), is_gather ? 2 : 1, touched_bytes(output));
  }
  if (!is_gather) {
    for (const at::Tensor& input : inputs) kernel.operands.push_back(touched_bytes(input));
  }
  if (is_one_of(operation, {"aten::mm.out", "aten::addmm.out", "aten::_addmm_activation.out",
                            "aten::_scaled_mm"})) {
    add_product(kernel, inputs, 2);
  } else if (is_one_of(operation, {"aten::bmm.out", "aten::baddbmm.out"})) {
    add_product(kernel, inputs, 3);
  } else if (operation.find("_scaled_dot_product_") != std::string_view::npos) {
    constexpr double kForward = 2, kBackward = 5;
    const bool is_backward = operation.find("_backward") != std::string_view::npos;
    add_attention(kernel, inputs, is_backward ? kBackward : kForward);
  }
  return kernel;
}

void launch(std::string_view operation, const Tensors& inputs, const Tensors& outputs) {
  const auto is_on_card = [](const at::Tensor& tensor) { return tensor.device() == kCard; };
  if (std::none_of(inputs.begin(), inputs.end(), is_on_card) &&
      std::none_of(outputs.begin(), outputs.end(), is_on_card)) {
    return;
  }
  gpu().timeline().launch(kernel_of(operation, inputs, outputs));
}

}  // namespace precbench::train::simulated
