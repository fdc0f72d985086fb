#include "train/worker.h"

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <new>

#include "common/errors.h"
#include "common/job.h"
#include "common/json_input.h"
#include "common/limits.h"
#include "common/version.h"
#include "train/base/errors.h"
#include "train/base/threads.h"
#include "train/base/torch.h"
#include "train/device/counting_allocator.h"
#include "train/device/describe.h"
#include "train/device/open_device.h"
#include "train/event_stream.h"
#include "train/loop/train_job.h"
#include "train/parallel/ranks.h"
#include "train/predict/predict_job.h"
#include "train/probe/attention_times.h"
#include "train/probe/probe.h"
#include "train/probe/rates.h"

namespace precbench::train {
namespace {

// A worker does not outlive its coordinator. The check comes after the request for a signal: a
// parent that died in between sends none.
void follow_parent(int64_t parent) {
  if (parent == 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
}

// glibc gives large blocks back to the kernel and takes fresh pages at the next step, below limits
// that grow to 32 MiB (DEFAULT_MMAP_THRESHOLD_MAX, and twice that for the top of the heap) with the
// blocks that a process frees. Whether the top of the heap is free is luck: fresh workers had
// medians of 22 to 33 ms for the same step of the CNN. Beginning at those limits they have 21 to
// 22, as a Python process that has been running for a while (docs/performance.md).
void settle_malloc() {
  constexpr int kLimit = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, kLimit);
  mallopt(M_TRIM_THRESHOLD, 2 * kLimit);
}

// Profile `tuned`: large blocks from the heap instead of fresh pages from the kernel at every step,
// and none given back (measured in docs/performance.md).
void tune_malloc() {
  constexpr int kHeapGrowth = 256 << 20;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, kHeapGrowth);
}

// About fifty layers by each of two libraries on two cores: their medians differ by some percent
// from one measurement to the next, where the choice is about a factor of two.
constexpr double kSecondsOfGemm = 0.3;

// A large model's step alone may take longer on a CPU; then each computation is timed once.
constexpr double kSecondsOfAttention = 0.5;

void prepare_process(const Job& job) {
  follow_parent(job.parent_pid);
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write, not our end
  // The product is measured for the profile that has these settings.
  if (job.kind == JobKind::gemm || job.kind == JobKind::attention) tune_malloc();
  // cuBLAS is deterministic with this setting alone, and reads it at the first CUDA call. What its
  // workspaces take then is part of a prediction, too.
  const bool trains = job.kind == JobKind::train || job.kind == JobKind::predict;
  if (trains && job.train.deterministic == "on") {
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  }
  if (job.kind == JobKind::train) job.train.tuned_malloc ? tune_malloc() : settle_malloc();
}

// "auto" is the first CUDA device if it can be used, else the CPU; then the facts say why.
json describe_devices(const std::string& name) {
  std::string no_cuda_reason = "the device was named: " + name;
  json facts;
  bool is_cuda = false;
  const auto describe_device = [&](const std::string& wanted) {
    const auto device = open_device(wanted);
    device->preflight();
    facts = describe(*device);
    is_cuda = !device->is_cpu();
  };
  if (name == "auto") {
    try {
      describe_device("cuda:0");
    } catch (const DeviceError& error) {
      no_cuda_reason = error.what();
      describe_device("cpu");
    }
  } else {
    describe_device(name);
  }
  facts["cuda"] = {{"available", is_cuda},
                   {"reason", is_cuda ? json(nullptr) : json(no_cuda_reason)}};
  facts["ranks"] = {{"missing", nullable(missing_for_ranks())}};
  return facts;
}

// Less than this share of what there is: a workspace of a convolution may not fit in it.
constexpr double kNearlyFull = 0.1;

bool is_nearly_full(const DeviceModule& device, int64_t limit_bytes) {
  const std::optional<int64_t> free = device.free_bytes();
  const std::optional<int64_t> whole = device.facts().memory_bytes;
  const auto below = [](int64_t rest, int64_t all) {
    return static_cast<double>(rest) < kNearlyFull * static_cast<double>(all);
  };
  if (free && whole && below(*free, *whole)) return true;
  return limit_bytes > 0 &&
         below(limit_bytes - device.memory().reserved_bytes.value_or(0), limit_bytes);
}

// What ends one rank, the others hear of as a connection that broke; why, it tells them itself.
TrainResult train_with_others(const Job& job, DeviceModule& device, const EventSink& emit) {
  const auto ranks = meet({job.rank, job.train.devices, job.meeting, job.rank_timeout_s});
  try {
    return run_train_job(job.train, device, emit, ranks.get());
  } catch (const std::exception& error) {
    if (!tells_of_a_lost_rank(message_of(error))) {
      ranks->tell_failure("rank " + std::to_string(job.rank) + ": " + first_line_of(error));
      throw;
    }
    const std::string reason = ranks->told_failure();
    throw LostRankError(reason.empty() ? "another rank is gone: " + first_line_of(error) : reason);
  }
}

TrainResult train(const Job& job, DeviceModule& device, const EventSink& emit) {
  try {
    return is_shared(job) ? train_with_others(job, device, emit)
                          : run_train_job(job.train, device, emit);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const LostRankError&) {
    throw;
  } catch (const std::exception& error) {  // TorchScript's interpreter makes it a runtime_error
    const std::string message = message_of(error);
    // What LibTorch has freed by now it still holds, so that the card is as full as it was.
    const bool may_be = is_out_of_memory(message, /*is_nearly_full=*/true);
    if (!may_be ||
        !is_out_of_memory(message, is_nearly_full(device, job.train.memory_limit_bytes))) {
      throw;
    }
    TORCH_CHECK_WITH(OutOfMemoryError, false, message);
  }
}

ResultEvent run(const Job& job, const EventSink& emit) {
  if (job.kind == JobKind::describe) return {describe_devices(job.device), std::nullopt};
  if (job.kind == JobKind::predict) {
    return {run_predict_job(job.predict, job.train), std::nullopt};
  }
  const auto device = open_device(job.device);  // before any ATen call
  use_threads(job.threads);
  device->preflight();
  if (job.kind == JobKind::train) return {nullptr, train(job, *device, emit)};
  if (job.kind == JobKind::gemm) return {linear_rates(*device, kSecondsOfGemm), std::nullopt};
  if (job.kind == JobKind::attention) {
    return {attention_times(job.train, *device, kSecondsOfAttention), std::nullopt};
  }
  json facts = describe(*device);
  facts.update(probe(*device));
  return {facts, std::nullopt};
}

FailedEvent failure(FailureKind kind, const std::exception& error) {
  return {kind, message_of(error).substr(0, limits::kMessageBytes)};
}

Event outcome_of(const Job& job, const EventSink& emit) {
  try {
    return run(job, emit);
  } catch (const UnsupportedError& error) {
    return failure(FailureKind::unsupported, error);
  } catch (
      const c10::NotImplementedError& error) {  // a kernel that is missing for a dtype; it is named
    return failure(FailureKind::unsupported, error);
  } catch (const c10::OutOfMemoryError& error) {
    return failure(FailureKind::oom, error);
  } catch (const std::bad_alloc& error) {
    return failure(FailureKind::oom, error);
  } catch (const FileError& error) {
    return failure(FailureKind::input, error);
  } catch (const LostRankError& error) {
    return failure(FailureKind::peer, error);
  } catch (const std::exception& error) {
    const bool is_lost = is_shared(job) && tells_of_a_lost_rank(message_of(error));  // as they met
    return failure(is_lost ? FailureKind::peer : FailureKind::error, error);
  }
}

}  // namespace

int worker_main() {
  CountingAllocator::install();
  EventStream events;
  events.send(HelloEvent{kProtocolVersion, tool_version(), tool_git_sha(), libtorch_version()});
  Job job;
  try {
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    job = job_from_json(json_from_text(text));
  } catch (const std::exception& error) {  // of the JSON library, or a JsonFieldError
    events.send(
        FailedEvent{FailureKind::error, std::string("the job is not valid: ") + error.what()});
    constexpr int kUnreadableJob = 2;
    return kUnreadableJob;
  }
  prepare_process(job);
  const auto emit = [&events](const Event& event) { events.send(event); };
  events.send(outcome_of(job, emit));
  return EXIT_SUCCESS;
}

}  // namespace precbench::train
