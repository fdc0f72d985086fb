#include "train/simulated_gpu/caching_allocator.h"

#include <algorithm>

namespace precbench::train::simulated {
namespace {

// c10/core/AllocatorConfig.h and c10/cuda/CUDACachingAllocator.cpp: kMinBlockSize, kSmallSize,
// kSmallBuffer, kMinLargeAlloc, kLargeBuffer, kRoundLarge.
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kMinBlock = 512;
constexpr int64_t kSmallSize = kMiB;
constexpr int64_t kSmallBuffer = 2 * kMiB;
constexpr int64_t kMinLargeAllocation = 10 * kMiB;
constexpr int64_t kLargeBuffer = 20 * kMiB;
constexpr int64_t kRoundLarge = 2 * kMiB;

int64_t rounded_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// round_size()
int64_t block_size(int64_t bytes) { return std::max(kMinBlock, rounded_up(bytes, kMinBlock)); }

// get_allocation_size()
int64_t segment_size(int64_t size) {
  if (size <= kSmallSize) return kSmallBuffer;
  if (size < kMinLargeAllocation) return kLargeBuffer;
  return rounded_up(size, kRoundLarge);
}

// should_split(), with no max_split_size
bool is_worth_splitting(int64_t rest, bool is_small) {
  return is_small ? rest >= kMinBlock : rest > kSmallSize;
}

std::string gibibytes(int64_t bytes) {
  const int64_t hundredths = bytes * 100 / (int64_t{1} << 30);
  const std::string fraction = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (fraction.size() < 2 ? ".0" : ".") + fraction + " GiB";
}

}  // namespace

void CachingAllocator::set_limit(int64_t bytes, std::string card) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
  card_ = std::move(card);
}

Block* CachingAllocator::allocate(int64_t bytes, MemoryUse use) {
  const std::lock_guard lock(mutex_);
  const int64_t size = block_size(bytes);
  const bool is_small = size <= kSmallSize;
  Block* block = take_free(size, is_small);
  if (block == nullptr) block = new_segment(size, is_small);
  if (is_worth_splitting(block->size - size, is_small)) split(block, size);
  block->is_free = false;
  block->requested = bytes;
  block->use = use;
  block->born = ++allocations_;
  live_.insert(block);
  stats_.allocated += block->size;
  stats_.requested += bytes;
  ++stats_.live_blocks;
  live_by_use_[static_cast<size_t>(use)] += block->size;
  note_peak();
  return block;
}

// get_free_block(): the smallest that is large enough.
Block* CachingAllocator::take_free(int64_t size, bool is_small) {
  FreeBlocks& pool = pools_[pool_].of(is_small);
  Block wanted;
  wanted.size = size;
  const auto found = pool.lower_bound(&wanted);
  if (found == pool.end()) return nullptr;
  Block* block = *found;
  pool.erase(found);
  return block;
}

// alloc_block(), and once more after release_cached_blocks().
Block* CachingAllocator::new_segment(int64_t size, bool is_small) {
  const int64_t bytes = segment_size(size);
  if (limit_ > 0 && stats_.reserved + bytes > limit_) give_back_free_segments();
  if (limit_ > 0 && stats_.reserved + bytes > limit_) {
    throw OutOfMemory("CUDA out of memory. Tried to allocate " + gibibytes(bytes) +
                      " on a simulated " + card_ + " with room for " + gibibytes(limit_) + "; " +
                      gibibytes(stats_.allocated) + " is allocated, and " +
                      gibibytes(stats_.reserved - stats_.allocated) +
                      " is reserved but unallocated");
  }
  auto* block = new Block;
  block->address = next_address_;
  block->size = bytes;
  block->is_small_pool = is_small;
  block->pool = pool_;
  next_address_ += static_cast<uint64_t>(bytes + kRoundLarge);  // segments do not touch
  stats_.reserved += bytes;
  stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
  return block;
}

void CachingAllocator::split(Block* block, int64_t size) {
  auto* rest = new Block;
  rest->address = block->address + static_cast<uint64_t>(size);
  rest->size = block->size - size;
  rest->is_small_pool = block->is_small_pool;
  rest->is_free = true;
  rest->previous = block;
  rest->next = block->next;
  if (block->next != nullptr) block->next->previous = rest;
  block->next = rest;
  block->size = size;
  rest->pool = block->pool;
  pools_[rest->pool].of(rest->is_small_pool).insert(rest);
}

void CachingAllocator::release(Block* block) {
  const std::lock_guard lock(mutex_);
  live_.erase(block);
  stats_.allocated -= block->size;
  stats_.requested -= block->requested;
  --stats_.live_blocks;
  live_by_use_[static_cast<size_t>(block->use)] -= block->size;
  block->is_free = true;
  block = merge(block);
  pools_[block->pool].of(block->is_small_pool).insert(block);
}

// free_block(): with free neighbours it becomes one block.
Block* CachingAllocator::merge(Block* block) {
  FreeBlocks& pool = pools_[block->pool].of(block->is_small_pool);
  if (Block* left = block->previous; left != nullptr && left->is_free) {
    pool.erase(left);
    left->size += block->size;
    left->next = block->next;
    if (block->next != nullptr) block->next->previous = left;
    delete block;
    block = left;
  }
  if (Block* right = block->next; right != nullptr && right->is_free) {
    pool.erase(right);
    block->size += right->size;
    block->next = right->next;
    if (right->next != nullptr) right->next->previous = block;
    delete right;
  }
  return block;
}

void CachingAllocator::give_back_free_segments() {
  Pool& shared = pools_[kDefaultPool];
  for (FreeBlocks* pool : {&shared.small, &shared.large}) {
    for (auto it = pool->begin(); it != pool->end();) {
      Block* block = *it;
      const bool is_whole_segment = block->previous == nullptr && block->next == nullptr;
      it = is_whole_segment ? pool->erase(it) : std::next(it);
      if (!is_whole_segment) continue;
      stats_.reserved -= block->size;
      delete block;
    }
  }
}

int CachingAllocator::new_pool() {
  const std::lock_guard lock(mutex_);
  return ++last_pool_;
}

void CachingAllocator::use_pool(int pool) {
  const std::lock_guard lock(mutex_);
  pool_ = pool;
}

// Its free blocks become ordinary ones, as do those that tensors still hold.
void CachingAllocator::free_pool(int pool) {
  const std::lock_guard lock(mutex_);
  Pool& from = pools_[pool];
  Pool& to = pools_[kDefaultPool];
  for (const bool is_small : {true, false}) {
    for (Block* block : from.of(is_small)) {
      block->pool = kDefaultPool;
      to.of(is_small).insert(block);
    }
  }
  for (Block* block : live_) {
    if (block->pool == pool) block->pool = kDefaultPool;
  }
  pools_.erase(pool);
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  give_back_free_segments();
}

void CachingAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak_allocated = stats_.allocated;
  stats_.peak_requested = stats_.requested;
  stats_.peak_reserved = stats_.reserved;
  peak_ = {stats_.allocated, live_by_use_, allocations_};
}

void CachingAllocator::note_peak() {
  stats_.peak_requested = std::max(stats_.peak_requested, stats_.requested);
  if (stats_.allocated <= stats_.peak_allocated) return;
  stats_.peak_allocated = stats_.allocated;
  peak_ = {stats_.allocated, live_by_use_, allocations_};
}

AllocatorStats CachingAllocator::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

// A block that lives and is no younger than a peak was part of it.
void CachingAllocator::change_use(Block& block, MemoryUse use) {
  const auto move = [&](UseBytes& split) {
    split[static_cast<size_t>(block.use)] -= block.size;
    split[static_cast<size_t>(use)] += block.size;
  };
  move(live_by_use_);
  for (Moment* moment : {&peak_, &highest_}) {
    if (block.born <= moment->allocations) move(moment->by_use);
  }
  block.use = use;
}

void CachingAllocator::mark(Block* block, MemoryUse use) {
  const std::lock_guard lock(mutex_);
  change_use(*block, use);
}

void CachingAllocator::mark_all(MemoryUse use) {
  const std::lock_guard lock(mutex_);
  for (Block* block : live_) change_use(*block, use);
  highest_ = {stats_.allocated, live_by_use_, allocations_};
}

void CachingAllocator::note_highest() {
  const std::lock_guard lock(mutex_);
  if (peak_.allocated > highest_.allocated) highest_ = peak_;
}

int64_t CachingAllocator::highest() const {
  const std::lock_guard lock(mutex_);
  return highest_.allocated;
}

UseBytes CachingAllocator::highest_split() const {
  const std::lock_guard lock(mutex_);
  return highest_.by_use;
}

}  // namespace precbench::train::simulated
