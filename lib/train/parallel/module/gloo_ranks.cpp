// Ranks over Gloo, by what LibTorch has in libtorch_cpu. Gloo's own headers, which LibTorch comes
// without, may be older than the Gloo in it: only names of theirs are used here, no object.
#define USE_C10D_GLOO
#include <algorithm>
#include <chrono>
#include <cstdlib>
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

// DistributedDataParallel sends parameters and buffers in parts of this size.
constexpr size_t kBroadcastBytes = 250 << 20;

using StorePointer = c10::intrusive_ptr<c10d::Store>;

// A run's port is another one than that of the run before, whose rank 0 may still be closing it.
constexpr int64_t kPorts = 100;

// How long ranks wait for each other to come: longer than LibTorch is read from any disk.
constexpr auto kMeetingTime = std::chrono::minutes(5);

// How long the reason of another rank's end may take to be told.
constexpr auto kReasonTime = std::chrono::seconds(2);
constexpr const char* kReasonKey = "reason";

// "tcp://10.0.0.1:29500/3"
struct Place {
  bool is_served;
  std::string host, run;
  int64_t port;
};

Place place_of(const std::string& text) {
  constexpr std::string_view kSeparator = "://";
  const size_t scheme_end = std::min(text.find(kSeparator), text.size());
  const size_t begin = scheme_end + kSeparator.size();
  const size_t colon = text.rfind(':'), stroke = text.rfind('/');
  const std::string scheme = text.substr(0, scheme_end);
  const bool is_known = scheme == "tcp" || scheme == "agent";
  if (!is_known || colon == std::string::npos || colon <= begin || stroke < colon) {
    throw std::invalid_argument("'" + text + "' is no place to meet: file:PATH, " +
                                "tcp://HOST:PORT/RUN or agent://HOST:PORT/RUN");
  }
  return {scheme == "agent", text.substr(begin, colon - begin), text.substr(stroke + 1),
          std::stoll(text.substr(colon + 1, stroke - colon - 1))};
}

bool is_on_this_machine(const Meeting& meeting) { return meeting.place.starts_with(kFileScheme); }

StorePointer open_store(const Meeting& meeting) {
  const int size = static_cast<int>(meeting.size);
  if (is_on_this_machine(meeting)) {
    const std::string path = meeting.place.substr(std::string_view(kFileScheme).size());
    return c10::make_intrusive<c10d::FileStore>(path, size);
  }
  const Place place = place_of(meeting.place);
  c10d::TCPStoreOptions options;
  const int64_t shift = place.is_served ? 0 : std::stoll(place.run) % kPorts;
  options.port = static_cast<uint16_t>(place.port + shift);
  options.isServer = !place.is_served && meeting.rank == 0;
  options.numWorkers = size;
  options.timeout = kMeetingTime;
  const auto store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
  return c10::make_intrusive<c10d::PrefixStore>("precbench/" + place.run, store);
}

std::string key_of(const char* what, int64_t rank) {
  return std::string(what) + "/" + std::to_string(rank);
}

// Where all ranks are there.
StorePointer store_of(const Meeting& meeting) {
  const StorePointer store = open_store(meeting);
  store->set(key_of("here", meeting.rank), std::vector<uint8_t>{1});
  std::vector<std::string> all;
  for (int64_t rank = 0; rank < meeting.size; ++rank) all.push_back(key_of("here", rank));
  store->wait(all, kMeetingTime);
  return store;
}

// As PyTorch chooses: by GLOO_SOCKET_IFNAME, else by the machine's name. On one machine no name of
// it has to be known, and no other machine can listen.
std::shared_ptr<::gloo::transport::Device> device_of(const Meeting& meeting) {
  using c10d::ProcessGroupGloo;
  if (is_on_this_machine(meeting)) return ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0') {
    return ProcessGroupGloo::createDeviceForInterface(interface);
  }
  return ProcessGroupGloo::createDefaultDevice();
}

Group group_of(const Meeting& meeting, const StorePointer& store) {
  const auto timeout = std::chrono::milliseconds(static_cast<int64_t>(meeting.timeout_s * 1000));
  store->setTimeout(timeout);
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->timeout = timeout;
  options->devices.push_back(device_of(meeting));
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
      : rank_(meeting.rank),
        size_(meeting.size),
        store_(store_of(meeting)),
        group_(group_of(meeting, store_)) {}

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

  // Rank 0, which serves the place, may be the one that is gone.
  void tell_failure(const std::string& reason) override {
    try {
      store_->set(kReasonKey, std::vector<uint8_t>(reason.begin(), reason.end()));
    } catch (const std::exception&) {
      return;
    }
  }

  std::string told_failure() override {
    try {
      store_->set(key_of("lost", rank_), std::vector<uint8_t>{1});
      store_->wait({kReasonKey}, kReasonTime);
      const std::vector<uint8_t> reason = store_->get(kReasonKey);
      return {reason.begin(), reason.end()};
    } catch (const std::exception&) {
      return silent_ranks();
    }
  }

 private:
  // Those who neither told a reason nor that they have lost somebody.
  std::string silent_ranks() {
    std::string silent;
    try {
      for (int64_t rank = 0; rank < size_; ++rank) {
        if (store_->check({key_of("lost", rank)})) continue;
        silent += (silent.empty() ? "rank " : ", rank ") + std::to_string(rank);
      }
    } catch (const std::exception&) {
      return "rank 0 is gone, which served the place where ranks meet";
    }
    return silent.empty() ? "" : silent + " is gone: killed, or cut off";
  }

  void reduce(torch::Tensor& values, c10d::ReduceOp::RedOpType operation) {
    std::vector<torch::Tensor> all = {values};
    c10d::AllreduceOptions options;
    options.reduceOp = operation;
    group_->allreduce(all, options)->wait();
  }

  int64_t rank_, size_;
  StorePointer store_;
  Group group_;
};

}  // namespace
}  // namespace precbench::train

extern "C" precbench::train::Ranks* precbench_meet(const precbench::train::Meeting& meeting) {
  return new precbench::train::GlooRanks(meeting);
}
