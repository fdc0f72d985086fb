// `precbench list devices`: what the worker's LibTorch can run on.
#pragma once

namespace precbench {

// Prints one line per device, and why there is no CUDA one. Returns the exit code; throws
// DeviceError.
int print_devices();

}  // namespace precbench
