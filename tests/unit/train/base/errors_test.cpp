#include "train/base/errors.h"

#include <gtest/gtest.h>

namespace precbench::train::errors_test {
namespace {

TEST(OutOfMemory, IsToldApartByItsWords) {
  for (const bool is_nearly_full : {false, true}) {
    EXPECT_TRUE(is_out_of_memory("CUDA error: out of memory\nCUDA kernel errors", is_nearly_full));
    EXPECT_TRUE(is_out_of_memory(
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        is_nearly_full));
    EXPECT_FALSE(
        is_out_of_memory("CUDA error: an illegal memory access was encountered", is_nearly_full));
    // Either for want of memory, or because there is none for this convolution.
    EXPECT_EQ(is_out_of_memory("FIND was unable to find an engine to execute this computation",
                               is_nearly_full),
              is_nearly_full);
  }
}

}  // namespace
}  // namespace precbench::train::errors_test
