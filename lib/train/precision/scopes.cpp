#include "train/precision/scopes.h"

#include <ATen/autocast_mode.h>

namespace precbench::train {

AutocastScope::AutocastScope(at::DeviceType device, at::ScalarType dtype, bool enabled)
    : device_(device),
      previous_enabled_(at::autocast::is_autocast_enabled(device)),
      previous_cache_enabled_(at::autocast::is_autocast_cache_enabled()),
      previous_dtype_(at::autocast::get_autocast_dtype(device)) {
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, dtype);
  at::autocast::increment_nesting();
  at::autocast::set_autocast_cache_enabled(true);
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, previous_enabled_);
  at::autocast::set_autocast_dtype(device_, previous_dtype_);
  at::autocast::set_autocast_cache_enabled(previous_cache_enabled_);
}

DefaultDtypeScope::DefaultDtypeScope(at::ScalarType dtype) : previous_(torch::get_default_dtype()) {
  torch::set_default_dtype(c10::scalarTypeToTypeMeta(dtype));
}

DefaultDtypeScope::~DefaultDtypeScope() { torch::set_default_dtype(previous_); }

}  // namespace precbench::train
