// Ranks over Gloo, by what LibTorch has in libtorch_cpu. Gloo's own headers, which LibTorch comes
// without, may be older than the Gloo in it: only names of theirs are used here, no object.
#define USE_C10D_GLOO
#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <type_traits>

#include "train/parallel/ranks.h"

namespace precbench::train {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
using Buckets = std::vector<std::vector<size_t>>;

constexpr const char* kFileScheme = "file:";
constexpr const char* kTcpScheme = "tcp://";

// DistributedDataParallel sends parameters and buffers in parts of this size.
constexpr size_t kBroadcastBytes = 250 << 20;

c10::intrusive_ptr<c10d::Store> store_of(const Meeting& meeting) {
  const int size = static_cast<int>(meeting.size);
  if (meeting.place.starts_with(kFileScheme)) {
    const std::string path = meeting.place.substr(std::string_view(kFileScheme).size());
    return c10::make_intrusive<c10d::FileStore>(path, size);
  }
  const size_t colon = meeting.place.rfind(':');
  const size_t begin = std::string_view(kTcpScheme).size();
  if (!meeting.place.starts_with(kTcpScheme) || colon <= begin) {
    throw std::invalid_argument("'" + meeting.place +
                                "' is no place to meet: file:PATH or tcp://HOST:PORT");
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(std::stoi(meeting.place.substr(colon + 1)));
  options.isServer = meeting.rank == 0;
  options.numWorkers = size;
  return c10::make_intrusive<c10d::TCPStore>(meeting.place.substr(begin, colon - begin), options);
}

Group group_of(const Meeting& meeting) {
  const auto store = store_of(meeting);
  const auto timeout = std::chrono::milliseconds(static_cast<int64_t>(meeting.timeout_s * 1000));
  store->setTimeout(timeout);
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->timeout = timeout;
  // On one machine no name of it has to be known, and no other machine can listen.
  options->devices.push_back(meeting.place.starts_with(kFileScheme)
                                 ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                 : c10d::ProcessGroupGloo::createDefaultDevice());
  const int rank = static_cast<int>(meeting.rank), size = static_cast<int>(meeting.size);
  auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, size);
  group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  return group;
}

// c10d's Reducer has got more arguments from one release of LibTorch to the next; a template, so
// that the calls that this release has not are not looked at.
template <typename Made, typename... Arguments>
std::shared_ptr<Made> make_with(Arguments... arguments) {
  const std::vector<int64_t> no_caps;
  if constexpr (std::is_constructible_v<Made, Arguments..., bool, bool, std::vector<int64_t>>) {
    return std::make_shared<Made>(arguments..., false, false, no_caps);
  } else if constexpr (std::is_constructible_v<Made, Arguments..., bool, bool>) {
    return std::make_shared<Made>(arguments..., false, false);
  } else {
    return std::make_shared<Made>(arguments...);
  }
}

// With what DistributedDataParallel gives it.
std::shared_ptr<c10d::Reducer> make_reducer(const std::vector<torch::Tensor>& parameters,
                                            const Buckets& buckets, const Group& group) {
  constexpr int64_t kMostBytes = c10d::kDefaultBucketBytesCap;
  constexpr int64_t kFirstBytes = c10d::kDefaultFirstBucketBytes;
  const std::vector<bool> sparse(parameters.size(), false);
  const std::unordered_map<size_t, std::string> names;
  constexpr bool kFindsUnused = false, kIsBucketView = false;
  return make_with<c10d::Reducer>(parameters, buckets, group, sparse, kMostBytes, kFindsUnused,
                                  kIsBucketView, names, kFirstBytes);
}

// bf16_compress_hook of torch.distributed.algorithms, which c10d itself has for float16 alone.
class Bf16Hook final : public c10d::CppCommHookInterface<Group> {
 public:
  using CppCommHookInterface::CppCommHookInterface;

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    torch::Tensor gradients = bucket.getBufferRef();
    std::vector<torch::Tensor> sent = {gradients.to(torch::kBFloat16).div_(state_->getSize())};
    const auto received = state_->allreduce(sent)->getFuture();
    const auto widen = [gradients](c10::ivalue::Future& future) {
      torch::Tensor(gradients).copy_(future.value().toTensorVector()[0]);
      return c10::IValue(gradients);
    };
    return received->then(widen, received->elementType());
  }
};

class ReducerAverage final : public GradientAverage {
 public:
  // One bucket for each dtype, in the order of the model; after the first step the reducer makes
  // those of 1 and 25 MiB, in the order in which gradients came.
  ReducerAverage(const std::vector<torch::Tensor>& parameters, const Group& group,
                 Compression compression) {
    c10d::verify_params_across_processes(group, parameters, {});
    Buckets buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
        parameters, {std::numeric_limits<int64_t>::max()}, std::vector<bool>(parameters.size())));
    std::reverse(buckets.begin(), buckets.end());
    reducer_ = make_reducer(parameters, buckets, group);
    logger_ = std::make_shared<c10d::Logger>(reducer_);
    reducer_->set_logger(logger_);
    reducer_->set_ddp_runtime_logging_sample_rate(1);  // every step: two readings of a clock each
    if (compression == Compression::fp16) {
      reducer_->register_builtin_comm_hook(c10d::BuiltinCommHookType::FP16_COMPRESS);
    } else if (compression == Compression::bf16) {
      reducer_->register_comm_hook(std::make_unique<Bf16Hook>(group));
    }
  }

  void before_forward() override {
    logger_->set_runtime_stats_and_log();
    reducer_->prepare_for_forward();
    reducer_->rebuild_buckets();
  }
  void after_forward() override { reducer_->prepare_for_backward({}); }

  std::optional<Times> mean_times() override {
    constexpr double kNsPerMs = 1e6;
    const auto figures = logger_->get_ddp_logging_data().ints_map;
    const auto ms = [&](const char* key) {
      const auto found = figures.find(key);
      return found == figures.end() ? 0.0 : static_cast<double>(found->second) / kNsPerMs;
    };
    const Times times{ms("avg_backward_comm_time"), ms("avg_backward_compute_comm_overlap_time")};
    return times.ms > 0 ? std::optional(times) : std::nullopt;
  }

 private:
  std::shared_ptr<c10d::Reducer> reducer_;
  std::shared_ptr<c10d::Logger> logger_;
};

class GlooRanks final : public Ranks {
 public:
  explicit GlooRanks(const Meeting& meeting)
      : rank_(meeting.rank), size_(meeting.size), group_(group_of(meeting)) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }

  void sum(torch::Tensor& values) override { reduce(values, c10d::ReduceOp::SUM); }
  void maximum(torch::Tensor& values) override { reduce(values, c10d::ReduceOp::MAX); }

  void take_from_first(const std::vector<torch::Tensor>& tensors) override {
    if (tensors.empty()) return;
    torch::NoGradGuard no_grad;
    c10d::broadcast_coalesced(group_, tensors, kBroadcastBytes, 0);
  }

  std::unique_ptr<GradientAverage> average_gradients(const std::vector<torch::Tensor>& parameters,
                                                     Compression compression) override {
    return std::make_unique<ReducerAverage>(parameters, group_, compression);
  }

 private:
  void reduce(torch::Tensor& values, c10d::ReduceOp::RedOpType operation) {
    std::vector<torch::Tensor> all = {values};
    c10d::AllreduceOptions options;
    options.reduceOp = operation;
    group_->allreduce(all, options)->wait();
  }

  int64_t rank_, size_;
  Group group_;
};

}  // namespace
}  // namespace precbench::train

extern "C" precbench::train::Ranks* precbench_meet(const precbench::train::Meeting& meeting) {
  return new precbench::train::GlooRanks(meeting);
}
