// The workers that train one model together, each on its part of every batch: rank 0 to size - 1.
// What they do together they do in the same order, each of them; one that does not makes the others
// wait. The implementation is a module of its own (loaded at run time), so that a machine without
// the library behind it loses nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "train/base/torch.h"

namespace precbench::train {

// Gradients as torch.nn.parallel.DistributedDataParallel averages them: by the same code (c10d's
// Reducer), in its buckets, while the backward pass still goes on.
class GradientAverage {
 public:
  GradientAverage() = default;
  GradientAverage(const GradientAverage&) = delete;
  GradientAverage& operator=(const GradientAverage&) = delete;
  virtual ~GradientAverage() = default;

  // Around a forward pass whose backward pass is going to leave averaged gradients. Without them,
  // backward passes add up this rank's own, as in DistributedDataParallel.no_sync().
  virtual void before_forward() = 0;
  virtual void after_forward() = 0;

  // Of a step, as c10d's Logger tells them; nothing before there were some.
  struct Times {
    double ms = 0;         // from the first bucket that is sent to the last that has come
    double hidden_ms = 0;  // while the backward pass still went on
  };
  virtual std::optional<Times> mean_times() = 0;
};

// How gradients travel: as they are, or rounded to 16 bits by DistributedDataParallel's hooks of
// these names (fp16_compress_hook, bf16_compress_hook).
enum class Compression { none, fp16, bf16 };

// Another rank is gone, and with it what this one does; what() says why, where that is known.
class LostRankError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How ranks find each other.
struct Meeting {
  int64_t rank = 0, size = 1;
  // file:PATH, which nobody else uses; tcp://HOST:PORT/RUN, from where on rank 0 opens a port for
  // each run; agent://HOST:PORT/RUN, where a launcher serves already.
  std::string place;
  double timeout_s = 1800;  // a rank that is silent for so long has failed; PyTorch's default
};

class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  // Over all ranks, element by element, in place.
  virtual void sum(torch::Tensor& values) = 0;
  virtual void maximum(torch::Tensor& values) = 0;

  // What rank 0 has. Sent together as DistributedDataParallel sends them.
  virtual void take_from_first(const std::vector<torch::Tensor>& tensors) = 0;

  // `parameters` are those that are trained, in the order of the model.
  virtual std::unique_ptr<GradientAverage> average_gradients(
      const std::vector<torch::Tensor>& parameters, Compression compression) = 0;

  // Tells the others why this rank ends; asks them, or who of them says nothing any more. Empty
  // where even that is not known.
  virtual void tell_failure(const std::string& reason) = 0;
  virtual std::string told_failure() = 0;

  // Mean over the ranks of a scalar on the CPU, in its dtype.
  torch::Tensor mean(const torch::Tensor& scalar);
  double largest(double value);
  // Of each rank, in their order.
  std::vector<int64_t> each(int64_t value);
};

// Why there cannot be several, and what to do; nothing where there can.
std::optional<std::string> missing_for_ranks();

// Meets the others. Throws UnsupportedError where the module or what it needs is missing.
std::unique_ptr<Ranks> meet(const Meeting& meeting);

// Whether the text is that of an error by which a rank learns that another one is gone.
bool tells_of_a_lost_rank(std::string_view message);

// The one symbol that the module exports, found with dlsym under kMeetSymbol. Returns a new object,
// which the caller owns.
using Meet = Ranks*(const Meeting& meeting);
inline constexpr const char* kMeetSymbol = "precbench_meet";

}  // namespace precbench::train
