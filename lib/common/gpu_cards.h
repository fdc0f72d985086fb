// The cards that can be simulated (--device simulated:t4, precbench predict --gpu t4): one table,
// read by the command line, the worker's simulated device and the docs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace precbench {

struct GpuCard {
  std::string_view id;
  std::string_view name;       // as the driver calls it
  int compute_capability = 0;  // major * 10 + minor
  double memory_gib = 0;       // as PyTorch reports it, of the whole card
  // What a process takes beside PyTorch's allocator: the CUDA context, kernels, libraries.
  double context_gib = 0;

  int64_t memory_bytes() const { return static_cast<int64_t>(memory_gib * (1 << 30)); }
  int64_t context_bytes() const { return static_cast<int64_t>(context_gib * (1 << 30)); }
};

// Both sizes are from PyTorch's out-of-memory messages of such cards ("GPU 0 has a total capacity
// of 14.56 GiB ... this process has 4.11 GiB memory in use. Of the allocated memory 3.72 GiB is
// allocated by PyTorch, and 264.21 MiB is reserved": 4.11 - 3.72 - 0.26 is the context). They
// differ a little between drivers; the smallest capacity that was found is the one here. H200's
// context is the H100's, since its own messages were of processes with NCCL.
inline constexpr std::array<GpuCard, 10> kGpuCards = {{
    {"t4", "Tesla T4", 75, 14.56, 0.13},
    {"p100", "Tesla P100-PCIE-16GB", 60, 15.89, 0.31},
    {"v100", "Tesla V100-SXM2-16GB", 70, 15.77, 0.38},
    {"a100", "NVIDIA A100-SXM4-40GB", 80, 39.38, 0.53},
    {"l4", "NVIDIA L4", 89, 22.03, 0.26},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 86, 23.56, 0.25},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 89, 23.51, 0.46},
    {"h100", "NVIDIA H100 80GB HBM3", 90, 79.14, 0.73},
    {"h200", "NVIDIA H200", 90, 139.80, 0.73},
    {"b200", "NVIDIA B200", 100, 178.35, 0.70},
}};

// The card of that id, or null. Besides the table's ids there is "sm_75:15655829504": any compute
// capability and memory in bytes, none of it for a context.
const GpuCard* find_gpu_card(std::string_view id);

// All ids in the table's order.
std::vector<std::string> gpu_card_ids();

}  // namespace precbench
