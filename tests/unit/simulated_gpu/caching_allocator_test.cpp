// Expected values: the constants of c10/cuda/CUDACachingAllocator.cpp and arithmetic.
#include "train/simulated_gpu/caching_allocator.h"

#include <gtest/gtest.h>

namespace precbench::train::simulated::caching_allocator_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr auto kUse = MemoryUse::temporaries;

TEST(CachingAllocator, RoundsTo512Bytes) {
  CachingAllocator memory;
  memory.allocate(1, kUse);
  EXPECT_EQ(memory.stats().allocated, 512);
  memory.allocate(513, kUse);
  EXPECT_EQ(memory.stats().allocated, 512 + 1024);
  EXPECT_EQ(memory.stats().requested, 514);
}

TEST(CachingAllocator, SharesSmallSegmentsOf2MiB) {
  CachingAllocator memory;
  memory.allocate(kMiB, kUse);
  memory.allocate(kMiB, kUse);
  EXPECT_EQ(memory.stats().reserved, 2 * kMiB);
  memory.allocate(512, kUse);
  EXPECT_EQ(memory.stats().reserved, 4 * kMiB);
}

TEST(CachingAllocator, TakesSegmentsOf20MiBUpTo10MiBAndRoundsLargerOnesTo2MiB) {
  CachingAllocator memory;
  memory.allocate(kMiB + 1, kUse);
  EXPECT_EQ(memory.stats().reserved, 20 * kMiB);
  memory.allocate(10 * kMiB, kUse);  // fits into the rest of that segment
  EXPECT_EQ(memory.stats().reserved, 20 * kMiB);
  memory.allocate(11 * kMiB, kUse);
  EXPECT_EQ(memory.stats().reserved, 32 * kMiB);
}

TEST(CachingAllocator, LeavesRestsOfUpTo1MiBInLargeBlocks) {
  CachingAllocator memory;
  memory.release(memory.allocate(12 * kMiB, kUse));
  Block* block = memory.allocate(11 * kMiB, kUse);  // the rest, 1 MiB, is not split off
  EXPECT_EQ(memory.stats().allocated, 12 * kMiB);
  memory.release(block);
  memory.allocate(11 * kMiB - 512, kUse);
  EXPECT_EQ(memory.stats().allocated, 11 * kMiB - 512);
}

TEST(CachingAllocator, TakesTheSmallestFreeBlockThatFits) {
  CachingAllocator memory;
  Block* large = memory.allocate(40 * kMiB, kUse);
  Block* small = memory.allocate(12 * kMiB, kUse);
  const uint64_t address = small->address;
  memory.release(large);
  memory.release(small);
  EXPECT_EQ(memory.allocate(12 * kMiB, kUse)->address, address);
}

TEST(CachingAllocator, MergesFreeNeighbours) {
  CachingAllocator memory;
  Block* first = memory.allocate(5 * kMiB, kUse);
  Block* second = memory.allocate(5 * kMiB, kUse);
  Block* third = memory.allocate(5 * kMiB, kUse);
  memory.release(first);
  memory.release(third);
  memory.release(second);
  memory.allocate(20 * kMiB, kUse);  // the whole segment again
  EXPECT_EQ(memory.stats().reserved, 20 * kMiB);
}

TEST(CachingAllocator, GivesCachedSegmentsBackBeforeItFails) {
  CachingAllocator memory;
  memory.set_limit(50 * kMiB, "card");
  memory.release(memory.allocate(30 * kMiB, kUse));
  memory.allocate(40 * kMiB, kUse);
  EXPECT_EQ(memory.stats().reserved, 40 * kMiB);
  EXPECT_THROW(memory.allocate(12 * kMiB, kUse), OutOfMemory);
  EXPECT_EQ(memory.stats().allocated, 40 * kMiB);
}

TEST(CachingAllocator, KeepsSegmentsThatAreInUse) {
  CachingAllocator memory;
  Block* kept = memory.allocate(2 * kMiB, kUse);
  memory.release(memory.allocate(2 * kMiB, kUse));
  memory.empty_cache();
  EXPECT_EQ(memory.stats().reserved, 20 * kMiB);
  memory.release(kept);
  memory.empty_cache();
  EXPECT_EQ(memory.stats().reserved, 0);
}

TEST(CachingAllocator, SplitsThePeakByUseAlsoWhenThatIsLearntLater) {
  CachingAllocator memory;
  memory.mark_all(MemoryUse::resident);
  Block* weights = memory.allocate(4 * kMiB, kUse);
  Block* gradient = memory.allocate(2 * kMiB, kUse);
  memory.release(memory.allocate(3 * kMiB, MemoryUse::workspace));
  Block* after_the_peak = memory.allocate(2 * kMiB, kUse);
  memory.mark(weights, MemoryUse::weights);
  memory.mark(gradient, MemoryUse::gradients);
  memory.mark(after_the_peak, MemoryUse::optimizer);
  memory.note_highest();
  memory.reset_peak();
  const UseBytes split = memory.highest_split();
  const auto bytes = [&](MemoryUse use) { return split[static_cast<size_t>(use)]; };
  EXPECT_EQ(bytes(MemoryUse::weights), 4 * kMiB);
  EXPECT_EQ(bytes(MemoryUse::gradients), 2 * kMiB);
  EXPECT_EQ(bytes(MemoryUse::workspace), 3 * kMiB);
  EXPECT_EQ(bytes(MemoryUse::optimizer), 0);
  EXPECT_EQ(memory.highest(), 9 * kMiB);
}

}  // namespace
}  // namespace precbench::train::simulated::caching_allocator_test
