#include "train/predict/largest_batch.h"

#include "support.h"

namespace precbench::train {
namespace {

TEST(LargestBatch, FitsAndTheNextDoesNotFromAnyStart) {
  for (const int64_t limit : {1, 2, 63, 64, 65, 1000}) {
    for (const int64_t start : {1, 64, 4096}) {
      EXPECT_EQ(largest_batch(start, [&](int64_t batch) { return batch <= limit; }), limit);
    }
  }
}

TEST(LargestBatch, IsNoneWhereNotOneSampleFits) {
  EXPECT_EQ(largest_batch(64, [](int64_t) { return false; }), 0);
}

TEST(LargestBatch, EndsWhereEverythingFits) {
  EXPECT_EQ(largest_batch(64, [](int64_t) { return true; }), kLargestBatchTried);
}

TEST(GpuCards, AreFoundByTheirIdOrByCapabilityAndMemory) {
  EXPECT_EQ(find_gpu_card("t4")->compute_capability, 75);
  EXPECT_EQ(find_gpu_card("sm_75:15655829504")->memory_bytes(), 15655829504);
  EXPECT_EQ(find_gpu_card("sm_75:15655829504")->context_bytes(), 0);
  for (const char* id : {"", "t5", "sm_75", "sm_75:", "sm_7:15655829504"}) {
    EXPECT_EQ(find_gpu_card(id), nullptr) << id;
  }
}

}  // namespace
}  // namespace precbench::train
