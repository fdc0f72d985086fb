// What the NVIDIA driver itself says, asked through libcuda alone and before LibTorch's CUDA side
// is loaded: that side takes half a second to load, and says only that there are no devices.
#pragma once

#include <cstdint>
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

// One card, in the driver's words. Its interface is the same for every CUDA, while the structure
// that the CUDA runtime fills (cudaDeviceProp) has another layout in 12 and in 13.
struct CardFacts {
  std::string name;
  std::string uuid;        // as NVML writes it: "GPU-" and the bytes in groups of 4, 2, 2, 2 and 6
  std::string pci_bus_id;  // "00000000:65:00.0"
  int64_t memory_bytes = 0;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  int sm_clock_khz = 0, memory_clock_khz = 0;
  bool has_ecc = false;  // and it is on
};

// Throws DeviceError if the driver does not answer. After read_driver_facts().
CardFacts read_card_facts(int index);

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
