// What is taken from outside (files, a worker, a configuration) at most: the one table of limits.
// Each has its reason, and docs/reliability.md lists them. Who hits one gets a message that names
// it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace precbench::limits {

inline constexpr size_t kKibibyte = size_t{1} << 10, kMebibyte = size_t{1} << 20;

// JSON, wherever it comes from. The deepest member that we write lies eight levels down; objects
// that are only carried (environment, breakdown) may go further. Parsers and printers recurse.
inline constexpr size_t kJsonDepth = 32;
// One text in it. Linux takes arguments of up to 128 KiB, which a result file repeats.
inline constexpr size_t kJsonTextBytes = 256 * kKibibyte;

// 100 runs with 10,000 step times and losses each make about 40 MB; JSON in memory takes several
// times its size on disk.
inline constexpr size_t kResultFileBytes = 256 * kMebibyte;
inline constexpr size_t kConfigFileBytes = kMebibyte;  // a configuration is a page of text
// Files of the kernel and our own cache; the largest is /proc/cpuinfo, about 1.5 KiB a core.
inline constexpr size_t kSmallFileBytes = 4 * kMebibyte;

// A worker. Its longest event is a result: two traces of at most 10,000 numbers, 25 characters
// each. A line thirty times as long is broken, and must not eat the coordinator's memory.
inline constexpr size_t kEventBytes = 16 * kMebibyte;
inline constexpr size_t kMessageBytes = 8 * kKibibyte;     // of a failure
inline constexpr size_t kPhaseBytes = 100;                 // shown in a line of progress
inline constexpr size_t kStderrLineBytes = 8 * kKibibyte;  // the rest of a line is left out
inline constexpr size_t kStderrTailBytes = 2000;           // kept for the reason of a crash
// What one process can have left in a pipe when it ends: Linux lets a user's pipe grow to this.
inline constexpr size_t kPipeBytes = kMebibyte;

// Figures of a run. A hundred thousand years: beyond it, figures made of a time (squares, ratios)
// leave a double's range or say nothing.
inline constexpr double kLongestS = 3e12;
inline constexpr double kMostSamplesPerS = 1e18;

// Data sets. No file in IDX comes near 4 GiB; what is read is never more than its header promises.
inline constexpr uint64_t kIdxBytes = uint64_t{4} << 30;
inline constexpr uint64_t kTextBytes = uint64_t{4} << 30;
// Text deflates to a third, logs to a twentieth. What inflates more than this, beyond the first
// 16 MiB, is made to fill the memory.
inline constexpr uint64_t kTextInflation = 32;
inline constexpr uint64_t kFreelyInflated = 16 * kMebibyte;
// Both CIFAR archives unpack to under 180 MB, their largest file has 154 MB.
inline constexpr uint64_t kArchiveBytes = 1024 * kMebibyte;
inline constexpr uint64_t kArchiveEntryBytes = 256 * kMebibyte;

// Files of tensors.
inline constexpr size_t kTensorDimensions = 64;  // as PyTorch's iterators
inline constexpr size_t kTensorNameBytes = 4 * kKibibyte;
// A pickle can name a value again and again; what comes of it is at most so many times its size
// (a tensor of torch.save takes about 150 bytes of pickle, and 300 in memory).
inline constexpr size_t kPickleGrowth = 16;

}  // namespace precbench::limits
