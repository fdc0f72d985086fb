// Counts the bytes of CPU tensors exactly: what code asked for, without rounding. Wraps the
// allocator that LibTorch would use. It sees every storage, also those made by autograd's threads;
// it does not see scratch memory that oneDNN and MKL take for themselves.
#pragma once

#include <c10/core/Allocator.h>

#include <atomic>
#include <cstdint>

namespace precbench::train {

class CountingAllocator : public c10::Allocator {
 public:
  static CountingAllocator& instance();

  // Makes it LibTorch's CPU allocator. Not thread-safe: the first statement of main.
  static void install();

  int64_t current() const { return current_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }  // since reset_peak()
  void reset_peak() { peak_.store(current()); }

  // An allocation that would bring current() over `bytes` throws c10::OutOfMemoryError; 0 = no
  // limit. What is there now (the data set) is in `bytes`, and no part of the sizes in the message.
  void set_limit(int64_t bytes) {
    before_limit_.store(current());
    limit_.store(bytes);
  }

  // What this thread allocates meanwhile counts nowhere, neither now nor when it is freed: what
  // only looks on at a training must not be what goes over its limit.
  class Uncounted {
   public:
    Uncounted() { ++depth(); }
    ~Uncounted() { --depth(); }
    Uncounted(const Uncounted&) = delete;
    Uncounted& operator=(const Uncounted&) = delete;

   private:
    friend CountingAllocator;
    static int& depth() {
      thread_local int depth = 0;
      return depth;
    }
  };

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* destination, const void* source, size_t bytes) const override;

 private:
  CountingAllocator();
  static void release(void* data);

  c10::Allocator* system_;
  std::atomic<int64_t> current_{0}, peak_{0}, limit_{0}, before_limit_{0};
};

}  // namespace precbench::train
