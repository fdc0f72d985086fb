// One NVIDIA GPU as the driver's management library (NVML, libnvidia-ml.so.1) sees it. The library
// comes with the driver and is loaded at run time; no header of it is needed. Every figure is
// optional: what a card, a driver or a container does not tell is nothing, with its reason.
//
// Calls can hang on a broken driver: make them on a thread that nobody waits for without a limit
// (nvml.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/json_fields.h"

namespace precbench {

// Why there is no device: no library, no driver, no permission, no such card.
class NvmlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The card that CUDA uses. NVML numbers cards in another order than CUDA, and does not know
// CUDA_VISIBLE_DEVICES, so an index is no name: one of these is, as CUDA tells it.
struct NvmlTarget {
  std::string uuid;        // with or without "GPU-"; empty = unknown
  std::string pci_bus_id;  // "0000:3b:00.0"; empty = unknown
};

struct NvmlFacts {
  std::optional<std::string> driver;  // "580.65.06"
  std::optional<double> max_sm_clock_mhz;
  std::optional<bool> ecc;
  std::optional<bool> is_virtual;  // a vGPU: a share of a card
  std::optional<bool> has_slices;  // MIG is on: the card is split into instances
  Unknowns unknown;
};

struct NvmlSample {
  double time_s = 0;  // of a steady clock
  std::optional<double> power_w;
  std::optional<double> energy_j;  // since the driver was loaded
  std::optional<double> temperature_c;
  std::optional<double> sm_clock_mhz, memory_clock_mhz;
  std::optional<uint64_t> clock_reasons;          // bits of nvmlClocksEventReason*
  std::optional<int64_t> used_bytes;              // of the whole card, all processes
  std::optional<int64_t> ecc_errors;              // uncorrected, since the driver was loaded
  std::optional<std::vector<int64_t>> processes;  // process ids that compute on the card
};

class NvmlDevice {
 public:
  // Loads `library` ("libnvidia-ml.so.1"), initialises it and finds the card; without any name of
  // it the only card of the machine. Throws NvmlError.
  NvmlDevice(const std::string& library, const NvmlTarget& target);
  NvmlDevice(const NvmlDevice&) = delete;
  NvmlDevice& operator=(const NvmlDevice&) = delete;
  ~NvmlDevice();

  const NvmlFacts& facts() const { return facts_; }

  // Everything once; time_s is the caller's to fill.
  NvmlSample sample();

  // Why members of a sample are nothing, by their names in NvmlSample.
  const Unknowns& unknown() const { return unknown_; }

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  void* device_ = nullptr;  // nvmlDevice_t
  NvmlFacts facts_;
  Unknowns unknown_;
};

}  // namespace precbench
