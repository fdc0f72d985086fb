// DeviceModule::weightless_scope() of the simulated device.
#pragma once

#include <torch/library.h>

#include <memory>

namespace precbench::train::simulated {

void register_weightless_mode(torch::Library& library);

// While it lives, factory functions of this thread that name no device make weightless tensors.
std::shared_ptr<void> make_weightless_scope();

}  // namespace precbench::train::simulated
