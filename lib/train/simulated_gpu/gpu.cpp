#include "train/simulated_gpu/gpu.h"

#include <torch/csrc/autograd/graph_task.h>

#include <cstdio>
#include <cstdlib>

#include "train/simulated_gpu/capability.h"

namespace precbench::train::simulated {
namespace {

constexpr int64_t kKiB = 1024;
// parseChosenWorkspaceSize(): ":4096:2:16:8", and 32 MiB for Hopper and Blackwell.
constexpr int64_t kWorkspace = (2 * 4096 + 8 * 16) * kKiB;
constexpr int64_t kHopperWorkspace = 8 * 4096 * kKiB;

// CUBLAS_WORKSPACE_CONFIG, as ":4096:8" or ":4096:2:16:8": pairs of KiB and how many; nothing where
// it is not set or not so written.
std::optional<int64_t> configured_workspace() {
  const char* text = std::getenv("CUBLAS_WORKSPACE_CONFIG");
  if (text == nullptr) return std::nullopt;
  int64_t sum = 0;
  long kib = 0, blocks = 0;
  for (int length = 0; std::sscanf(text, ":%ld:%ld%n", &kib, &blocks, &length) == 2;
       text += length) {
    sum += kib * blocks * kKiB;
  }
  return sum > 0 && *text == '\0' ? std::optional(sum) : std::nullopt;
}

bool is_in_backward() { return torch::autograd::get_current_graph_task_id() != -1; }

}  // namespace

Gpu& gpu() {
  static Gpu* const gpu = new Gpu;
  return *gpu;
}

void Gpu::insert(const GpuCard& card) {
  const std::lock_guard lock(mutex_);
  for (Block*& workspace : workspaces_) {
    if (workspace != nullptr) memory_.release(workspace);
    workspace = nullptr;
  }
  memory_.empty_cache();
  memory_.reset_peak();
  card_ = &card;
  timeline_.insert(card);
  memory_.set_limit(card.memory_bytes() - card.context_bytes(), std::string(card.name));
}

int64_t Gpu::matrix_workspace_bytes() const {
  return configured_workspace().value_or(capability() >= kHopper ? kHopperWorkspace : kWorkspace);
}

void Gpu::need_matrix_workspace() {
  const std::lock_guard lock(mutex_);
  if (!has_matrix_workspace_) return;
  Block*& workspace = workspaces_[is_in_backward() ? 1 : 0];
  if (workspace == nullptr) {
    workspace = memory_.allocate(matrix_workspace_bytes(), MemoryUse::workspace);
  }
}

}  // namespace precbench::train::simulated
