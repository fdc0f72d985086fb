// A model of PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp) in its default
// configuration and with one stream: which blocks a program's tensors get, so what
// torch.cuda.max_memory_allocated() and max_memory_reserved() would say. No memory is taken.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "train/device/device_module.h"

namespace precbench::train::simulated {

struct Block {
  uint64_t address = 0;
  int64_t size = 0;       // of the block, rounded and with what was not split off
  int64_t requested = 0;  // bytes of the tensor
  bool is_small_pool = false, is_free = false;
  int pool = 0;  // CachingAllocator::new_pool()
  MemoryUse use = MemoryUse::temporaries;
  uint64_t born = 0;                           // number of its allocation
  Block *previous = nullptr, *next = nullptr;  // neighbours in the segment
};

struct AllocatorStats {
  int64_t allocated = 0, peak_allocated = 0;
  int64_t reserved = 0, peak_reserved = 0;
  // What was asked for, without the rounding of block sizes.
  int64_t requested = 0, peak_requested = 0;
  int64_t live_blocks = 0;
};

// cudaMalloc's failure, after cached blocks were given back.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bytes by MemoryUse.
using UseBytes = std::array<int64_t, kMemoryUses>;

class CachingAllocator {
 public:
  // A card's memory without what the process takes beside the allocator; 0 = no limit.
  void set_limit(int64_t bytes, std::string card);

  // `bytes` > 0. The block stays valid until release(). Throws OutOfMemory.
  Block* allocate(int64_t bytes, MemoryUse use);
  void release(Block* block);

  // A graph's memory is a pool of its own (beginAllocateToPool): its blocks serve no other
  // allocations, and its segments are not given back before it is freed. New blocks are of the pool
  // in use.
  static constexpr int kDefaultPool = 0;
  int new_pool();
  void use_pool(int pool);
  void free_pool(int pool);

  // Gives whole free segments back (torch.cuda.empty_cache).
  void empty_cache();
  void reset_peak();
  AllocatorStats stats() const;

  // Says what a block holds; corrects the split of the peak where the block was part of it.
  void mark(Block* block, MemoryUse use);
  // Of all blocks; the highest peak starts anew.
  void mark_all(MemoryUse use);

  // The peak is reset between the phases of a step, and what happens in pauses is not looked at;
  // the highest is that of all peaks that were.
  void note_highest();
  int64_t highest() const;
  UseBytes highest_split() const;

 private:
  struct BySizeThenAddress {
    bool operator()(const Block* a, const Block* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  using FreeBlocks = std::set<Block*, BySizeThenAddress>;

  struct Pool {
    FreeBlocks small, large;
    FreeBlocks& of(bool is_small) { return is_small ? small : large; }
  };

  Block* take_free(int64_t size, bool is_small);
  Block* new_segment(int64_t size, bool is_small);
  void split(Block* block, int64_t size);
  Block* merge(Block* block);
  void give_back_free_segments();
  void change_use(Block& block, MemoryUse use);
  void note_peak();

  // Allocated bytes by use, when the last block had that number.
  struct Moment {
    int64_t allocated = 0;
    UseBytes by_use{};
    uint64_t allocations = 0;
  };

  mutable std::mutex mutex_;
  std::map<int, Pool> pools_;
  int pool_ = kDefaultPool, last_pool_ = kDefaultPool;
  std::set<Block*> live_;
  AllocatorStats stats_;
  UseBytes live_by_use_{};
  Moment peak_, highest_;
  uint64_t next_address_ = uint64_t{1} << 44;  // no address that a program on this machine has
  uint64_t allocations_ = 0;
  int64_t limit_ = 0;
  std::string card_;
};

}  // namespace precbench::train::simulated
