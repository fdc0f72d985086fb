// What the NVIDIA driver itself says, asked through libcuda alone and before LibTorch's CUDA side
// is loaded: that side takes half a second to load, and says only that there are no devices.
#pragma once

#include <optional>
#include <string>

namespace precbench::train {

struct DriverFacts {
  bool library_found = false;       // libcuda.so.1, which comes with the driver
  std::optional<int> cuda_version;  // newest CUDA that the driver supports: 12040 is 12.4
  int init_error = 0;               // CUresult of cuInit; 0 = done
  int device_count = 0;
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES, if set
};

DriverFacts read_driver_facts();

// Why no CUDA device can be used, in words that name what is missing; empty when nothing is known
// to be missing. `cuda_built`: the CUDA that LibTorch was built with ("13.0"), nothing for a
// CPU-only LibTorch. `index`: the device that was asked for.
std::string missing_for_cuda(const DriverFacts& driver,
                             const std::optional<std::string>& cuda_built, int index);

// Why a first kernel failed on a card, from the exception's text.
std::string preflight_failure(const std::string& message, const std::string& device_name,
                              const std::string& compute_capability,
                              const std::string& architectures);

}  // namespace precbench::train
