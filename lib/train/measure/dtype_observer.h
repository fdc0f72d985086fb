// Watches which dtypes matrix products and convolutions really get, and what they cost, by a
// callback that LibTorch calls at every operation. For one step: a watched operation is slower.
#pragma once

#include <ATen/record_function.h>

#include <optional>
#include <set>
#include <string>

namespace precbench::train {

struct ObservedDtypes {
  std::set<at::ScalarType> compute;  // inputs of matmuls and convolutions
  // Inputs of batched products, which here belong to attention: where no fused kernel takes bf16 (a
  // T4), PyTorch multiplies in float32 copies.
  std::set<at::ScalarType> attention;
  std::optional<at::ScalarType> autocast;  // dtype of the autocast region, if there was one
  // Of all of them, forward and backward: a multiplication with its addition counts as two.
  double flops = 0;
};

class DtypeObserver {
 public:
  explicit DtypeObserver(at::DeviceType device);
  ~DtypeObserver();
  DtypeObserver(const DtypeObserver&) = delete;
  DtypeObserver& operator=(const DtypeObserver&) = delete;

  ObservedDtypes observed() const;

 private:
  at::CallbackHandle handle_;
};

}  // namespace precbench::train
