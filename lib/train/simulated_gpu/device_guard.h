// What LibTorch asks of every device type: which device and stream are current. There is one stream
// and everything issued to it is done at once.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace precbench::train::simulated {

const c10::impl::DeviceGuardImplInterface& device_guard();

}  // namespace precbench::train::simulated
