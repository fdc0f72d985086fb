#include "train/device/counting_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>

#include <cmath>

#include "../support.h"
#include "train/measure/divergence.h"
#include "train/measure/process.h"
#include "train/measure/step_clock.h"

namespace precbench::train::counting_allocator_test {
namespace {

class CountingAllocatorTest : public testing::Test {
 protected:
  void SetUp() override {
    base_ = allocator().current();
    allocator().reset_peak();
  }
  void TearDown() override { allocator().set_limit(0); }
  static CountingAllocator& allocator() { return CountingAllocator::instance(); }
  int64_t current() const { return allocator().current() - base_; }
  int64_t peak() const { return allocator().peak() - base_; }

 private:
  int64_t base_ = 0;
};

// y = relu(x)^2, z = y.sum(), backward, with n floats each: counted by hand.
TEST_F(CountingAllocatorTest, CountsAKnownGraphExactly) {
  constexpr int64_t kCount = 1000, kBytes = 4 * kCount;
  {
    const torch::Tensor x = torch::ones({kCount}).set_requires_grad(true);
    EXPECT_EQ(current(), kBytes);
    torch::Tensor loss = torch::relu(x).pow(2).sum();
    // x, relu's result (saved for both backward passes), the scalar sum; pow's result is gone.
    EXPECT_EQ(current(), 2 * kBytes + 4);
    EXPECT_EQ(peak(), 3 * kBytes + 4);
    loss.backward();
    loss.reset();
    EXPECT_EQ(current(), 2 * kBytes);  // x and its gradient
  }
  EXPECT_EQ(current(), 0);
}

TEST_F(CountingAllocatorTest, KeepsTheAlignmentAndTheRawInterface) {
  const torch::Tensor tensor = torch::empty({3}, torch::kByte);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data_ptr()) % c10::gAlignment, 0U);
  EXPECT_EQ(current(), 3);
  void* raw = c10::GetCPUAllocator()->raw_allocate(128);  // oneDNN's kernels do this
  EXPECT_EQ(current(), 131);
  c10::GetCPUAllocator()->raw_deallocate(raw);
  EXPECT_EQ(torch::empty({0}).nbytes(), 0U);
  EXPECT_EQ(current(), 3);
}

TEST_F(CountingAllocatorTest, ALimitIsAnOutOfMemoryError) {
  allocator().set_limit(allocator().current() + 1000);
  const torch::Tensor fits = torch::empty({1000}, torch::kByte);
  EXPECT_THROW(torch::empty({1}, torch::kByte), c10::OutOfMemoryError);
  EXPECT_EQ(current(), 1000);  // the refused block does not count
}

TEST_F(CountingAllocatorTest, ALimitIsToldAsItWasAskedFor) {
  const torch::Tensor data = torch::empty({3 << 20}, torch::kByte);
  allocator().set_limit(allocator().current() + (5 << 20));
  try {
    torch::empty({6 << 20}, torch::kByte);
    FAIL() << "6 MiB fit into 5";
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("of 6.0 MiB on top of 0.0 KiB goes over the memory "
                        "limit of 5.0 MiB (3.0 MiB that"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(CountingAllocatorTest, WhatLooksOnDoesNotCount) {
  allocator().set_limit(allocator().current() + 1000);
  torch::Tensor copy;
  {
    const CountingAllocator::Uncounted uncounted;
    copy = torch::empty({5000}, torch::kByte);
  }
  EXPECT_EQ(current(), 0);
  const torch::Tensor fits = torch::empty({1000}, torch::kByte);
  copy = torch::Tensor();
  EXPECT_EQ(current(), 1000);
}

TEST_F(CountingAllocatorTest, WhatTheSystemRefusesIsAnOutOfMemoryErrorToo) {
  EXPECT_THROW(torch::empty({int64_t{1} << 46}, torch::kByte), c10::OutOfMemoryError);
  EXPECT_EQ(current(), 0);
}

TEST(Process, KnowsItsAgeAndItsPeak) {
  const auto age = seconds_since_process_start();
  ASSERT_TRUE(age);
  EXPECT_GT(*age, 0);
  EXPECT_LT(*age, 3600);
  // LibTorch alone maps over 50 MB; a terabyte would be a wrong unit.
  const auto peak = peak_resident_bytes();
  ASSERT_TRUE(peak);
  EXPECT_GT(*peak, int64_t{50} << 20);
  EXPECT_LT(*peak, int64_t{1} << 40);
}

// numpy.percentile([1, 2, 3, 4, 10], [50, 95]) = 3, 8.8; the first step is left out.
TEST(StepClock, SummarisesAllStepsButTheFirst) {
  const StepTimes times = summarize_steps({500, 10, 1, 2, 4, 3});
  EXPECT_DOUBLE_EQ(*times.mean, 4.0);
  EXPECT_DOUBLE_EQ(*times.median, 3.0);
  EXPECT_DOUBLE_EQ(*times.p95, 8.8);
  EXPECT_FALSE(summarize_steps({500}).mean);
}

TEST(CpuDevice, SeesNonFiniteElementsInEveryDtype) {
  CpuDevice device;
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const double bad : {std::nan(""), -std::numeric_limits<double>::infinity()}) {
      const torch::Tensor good = torch::full({3, 5}, 60000.0, dtype);
      EXPECT_EQ(device.any_non_finite({good}).item<float>(), 0.0F);
      torch::Tensor last = good.clone();
      last[2][4] = bad;
      EXPECT_EQ(device.any_non_finite({good, last}).item<float>(), 1.0F);
    }
  }
}

std::optional<std::string> verdict(const std::vector<StepRecord>& steps) {
  DivergenceWatch watch(steps, /*keeps_going=*/false, /*is_pilot=*/false);
  watch.after_epoch(/*is_last=*/false);
  return watch.reason();
}

TEST(Divergence, NamesTheFirstStepAndWhy) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(verdict({{2.3, false, 0, false}, {2.2, false, 0, false}}));
  EXPECT_EQ(verdict({{2.3, false, 0, false}, {nan, false, 0, false}}),
            "the loss became nan at step 1");
  EXPECT_EQ(verdict({{2.3, false, 0, true}, {nan, false, 0, true}}),
            "weights became infinite or nan at step 0");
  EXPECT_FALSE(verdict({{infinity, true, 32768, false}, {2.3, false, 32768, false}}));
  EXPECT_EQ(verdict({{2.3, true, 1, false}, {2.3, true, 0.5, false}}),
            "the loss scale fell under 1 at step 1");
}

}  // namespace
}  // namespace precbench::train::counting_allocator_test
