// The one simulated card of a process: what it is, its memory, its time, and what it knows.
#pragma once

#include <array>
#include <mutex>

#include "common/gpu_cards.h"
#include "train/simulated_gpu/caching_allocator.h"
#include "train/simulated_gpu/known_values.h"
#include "train/simulated_gpu/timeline.h"
#include "train/simulated_gpu/trace.h"

namespace precbench::train::simulated {

class Gpu {
 public:
  // Puts another card in: libraries' workspaces and cached memory of the one before are gone, and
  // its time begins.
  void insert(const GpuCard& card);

  const GpuCard& card() const { return *card_; }
  int capability() const { return card_->compute_capability; }
  CachingAllocator& memory() { return memory_; }
  KnownValues& values() { return values_; }
  Trace& trace() { return trace_; }
  Timeline& timeline() { return timeline_; }

  // cuBLAS keeps a workspace for each handle and stream (aten/src/ATen/cuda/CublasHandlePool.cpp);
  // a thread has a handle of its own, so the backward pass, which on a card runs in one of
  // autograd's threads, has a second workspace. cublasLt uses the same one.
  void need_matrix_workspace();

  // Tests compare with runs that have no cuBLAS.
  void set_matrix_workspace(bool on) { has_matrix_workspace_ = on; }

 private:
  int64_t matrix_workspace_bytes() const;

  const GpuCard* card_ = &kGpuCards.front();
  CachingAllocator memory_;
  KnownValues values_;
  Trace trace_;
  Timeline timeline_;
  std::mutex mutex_;
  std::array<Block*, 2> workspaces_ = {};  // forward, backward
  bool has_matrix_workspace_ = true;
};

// Never destroyed: tensors with static lifetime may outlive main.
Gpu& gpu();

}  // namespace precbench::train::simulated
