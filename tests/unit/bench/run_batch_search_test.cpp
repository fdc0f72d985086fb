#include <gtest/gtest.h>

#include <cmath>

#include "bench/run/batch_search.h"

namespace precbench::run_batch_search_test {
namespace {

// A device of `limit` bytes on which a batch of n takes bytes(n).
BatchSearch search_for(int64_t first, int64_t most, int64_t limit,
                       const std::function<int64_t(int64_t)>& bytes) {
  return find_largest_batch(first, most, limit, [&](int64_t size) {
    const int64_t needed = bytes(size);
    if (needed <= limit) return BatchTrial{size, true, needed, ""};
    return BatchTrial{size, false, std::nullopt, "oom"};
  });
}

TEST(BatchSearch, FindsTheEdgeOfALineInAFewTrials) {
  const BatchSearch found =
      search_for(128, 60000, 1 << 30, [](int64_t n) { return 5'000'000 + 123'456 * n; });
  ASSERT_TRUE(found.largest && found.too_large);
  EXPECT_EQ(found.largest->batch_size, ((1 << 30) - 5'000'000) / 123'456);
  EXPECT_EQ(found.too_large->batch_size, found.largest->batch_size + 1);
  EXPECT_EQ(found.too_large->reason, "oom");
  EXPECT_LE(found.trials.size(), 6U);
}

// Rounded up in blocks, and with a jump where another algorithm is chosen.
TEST(BatchSearch, FindsTheEdgeWhereMemoryIsNoLine) {
  const auto bytes = [](int64_t n) {
    return 1000 + (n + 63) / 64 * 64 * 1000 + (n > 500 ? 300'000 : 0);
  };
  for (const int64_t first : {1, 100, 512, 3000}) {
    const BatchSearch found = search_for(first, 4000, 900'000, bytes);
    ASSERT_TRUE(found.largest && found.too_large);
    EXPECT_LE(bytes(found.largest->batch_size), 900'000);
    EXPECT_GT(bytes(found.largest->batch_size + 1), 900'000);
    EXPECT_EQ(found.too_large->batch_size, found.largest->batch_size + 1);
    EXPECT_LE(found.trials.size(), 20U);
  }
}

TEST(BatchSearch, StopsAtTheEndOfTheData) {
  const BatchSearch found = search_for(128, 1000, 1 << 30, [](int64_t n) { return n; });
  ASSERT_TRUE(found.largest);
  EXPECT_EQ(found.largest->batch_size, 1000);
  EXPECT_FALSE(found.too_large);
}

TEST(BatchSearch, SaysSoWhereNothingFits) {
  const BatchSearch found = search_for(128, 1000, 10, [](int64_t) { return 11; });
  EXPECT_FALSE(found.largest);
  ASSERT_TRUE(found.too_large);
  EXPECT_EQ(found.too_large->batch_size, 1);
}

TEST(BatchSearch, NeedsNoLimitToFindOne) {
  const BatchSearch found = find_largest_batch(16, 100000, std::nullopt, [](int64_t size) {
    return BatchTrial{size, size <= 777, size * 10, ""};
  });
  ASSERT_TRUE(found.largest);
  EXPECT_EQ(found.largest->batch_size, 777);
}

}  // namespace
}  // namespace precbench::run_batch_search_test
