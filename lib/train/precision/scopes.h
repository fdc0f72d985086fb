// What a mode sets up around a forward pass and takes down after it, also when an exception passes.
#pragma once

#include "train/base/torch.h"

namespace precbench::train {

class ForwardScope {
 public:
  ForwardScope() = default;
  ForwardScope(const ForwardScope&) = delete;
  ForwardScope& operator=(const ForwardScope&) = delete;
  virtual ~ForwardScope() = default;
};

// torch.autocast for one device type. The order of the calls is that of Python's __enter__ and
// __exit__ (torch/amp/autocast_mode.py). Scopes nest; the end of the outermost one drops the cached
// casts of the weights: kept, they would hide the optimizer's update from the next forward pass.
class AutocastScope : public ForwardScope {
 public:
  AutocastScope(at::DeviceType device, at::ScalarType dtype, bool enabled = true);
  ~AutocastScope() override;

 private:
  at::DeviceType device_;
  bool previous_enabled_;
  bool previous_cache_enabled_;
  at::ScalarType previous_dtype_;
};

// torch.set_default_dtype for the duration of a scope.
class DefaultDtypeScope : public ForwardScope {
 public:
  explicit DefaultDtypeScope(at::ScalarType dtype);
  ~DefaultDtypeScope() override;

 private:
  caffe2::TypeMeta previous_;
};

}  // namespace precbench::train
