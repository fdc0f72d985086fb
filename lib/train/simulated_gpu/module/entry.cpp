#include "train/simulated_gpu/simulated_device.h"

extern "C" __attribute__((visibility("default"))) precbench::train::DeviceModule*
precbench_open_device(const std::string& name) {
  return precbench::train::simulated::open_simulated_device(name).release();
}
