#include "train/probe/rates.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "train/models/onednn_linear.h"

namespace precbench::train {
namespace {

constexpr int kLeastSamples = 3;

// Of one of so many calls in a row, by the device's own events: what the host takes to issue the
// first and to hear of the last is not part of it.
double seconds_of(DeviceModule& device, const std::function<void()>& work, int calls) {
  device.synchronize();
  const auto begin = device.record_event();
  for (int i = 0; i < calls; ++i) work();
  const auto end = device.record_event();
  device.synchronize();
  constexpr double kMillisecondsPerSecond = 1e3;
  return device.elapsed_ms(*begin, *end) / kMillisecondsPerSecond / calls;
}

// A sample on a GPU takes at least this long: a thousand times the gaps between kernels.
constexpr double kShortestSample = 5e-3;
constexpr int kMostCalls = 200;

int calls_for(const DeviceModule& device, double seconds) {
  if (device.is_cpu()) return 1;
  return std::clamp(static_cast<int>(std::ceil(kShortestSample / std::max(seconds, 1e-9))), 1,
                    kMostCalls);
}

struct Part {
  const char* name;
  double operations;
  std::function<void()> work;
};

// Medians over samples of all parts in turn, for about so many seconds.
json rates_of(DeviceModule& device, const std::vector<Part>& parts, double seconds) {
  std::vector<int> calls;
  for (const Part& part : parts) {
    part.work();  // kernels are chosen and compiled at the first call
    calls.push_back(device.is_cpu() ? 1 : calls_for(device, seconds_of(device, part.work, 1)));
  }
  std::vector<std::vector<double>> times(parts.size());
  std::vector<double> totals;
  const double begin = device.host_seconds();
  do {
    double total = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      times[i].push_back(seconds_of(device, parts[i].work, calls[i]));
      total += times[i].back();
    }
    totals.push_back(total);
  } while (static_cast<int>(totals.size()) < kLeastSamples ||
           device.host_seconds() - begin < seconds);
  const auto middle = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  constexpr double kTera = 1e12;
  double operations = 0;
  json found = {{"samples", totals.size()}};
  for (size_t i = 0; i < parts.size(); ++i) {
    found[parts[i].name] = parts[i].operations / middle(times[i]) / kTera;
    operations += parts[i].operations;
  }
  const auto [fastest, slowest] = std::minmax_element(totals.begin(), totals.end());
  found["tflops"] = operations / middle(totals) / kTera;
  found["low"] = operations / *slowest / kTera;
  found["high"] = operations / *fastest / kTera;
  return found;
}

// Some format may be a thousand times slower than another on the same device: of the sizes, the
// largest whose work is expected to take no longer than this for one sample.
constexpr double kLongestSample = 0.4;

// `work` does one of the three products, which count alike.
constexpr double kProducts = 3;

// A product of that size, its operands on the device already.
using WorkOfSize = std::function<std::function<void()>(int64_t)>;

// `sizes` grow. On a GPU a size whose one call is long enough for a sample is large enough.
int64_t affordable_size(DeviceModule& device, const std::vector<int64_t>& sizes,
                        const std::function<double(int64_t)>& operations_of,
                        const WorkOfSize& work_of) {
  int64_t chosen = sizes.front();
  double seconds = 0;
  for (const int64_t size : sizes) {
    const double expected = seconds * operations_of(size) / operations_of(chosen);
    if (kProducts * expected > kLongestSample) break;
    chosen = size;
    const auto work = work_of(size);
    work();
    seconds = seconds_of(device, work, calls_for(device, seconds_of(device, work, 1)));
    if (!device.is_cpu() && seconds >= kShortestSample) break;
  }
  return chosen;
}

torch::Tensor random(at::IntArrayRef shape, torch::Device device, at::ScalarType type) {
  return torch::randn(shape, at::TensorOptions().dtype(at::kFloat).device(device)).to(type);
}

double cubed(int64_t size) {
  return 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
}

// 1,024 reaches a CPU's ceiling; a large GPU's takes 8,192.
int64_t affordable_square(DeviceModule& device, const WorkOfSize& product) {
  const std::vector<int64_t> sizes = device.is_cpu()
                                         ? std::vector<int64_t>{128, 256, 512, 1024}
                                         : std::vector<int64_t>{512, 1024, 2048, 4096, 8192};
  return affordable_size(device, sizes, cubed, product);
}

}  // namespace

json gemm_rate(DeviceModule& device, at::ScalarType type, double seconds) {
  torch::NoGradGuard no_grad;
  const int64_t size = affordable_square(device, [&](int64_t n) -> std::function<void()> {
    const torch::Tensor square = random({n, n}, device.device(), type);
    return [square] { square.mm(square); };
  });
  const torch::Tensor input = random({size, size}, device.device(), type);
  const torch::Tensor weight = random({size, size}, device.device(), type);
  const torch::Tensor gradient = random({size, size}, device.device(), type);
  const double operations = cubed(size);
  json found = rates_of(device,
                        {{"forward", operations, [&] { input.mm(weight.t()); }},
                         {"input_gradient", operations, [&] { gradient.mm(weight); }},
                         {"weight_gradient", operations, [&] { gradient.t().mm(input); }}},
                        seconds);
  found["shape"] = {size, size, size};
  return found;
}

json float8_gemm_rate(DeviceModule& device, double seconds) {
  torch::NoGradGuard no_grad;
  const torch::Tensor one = torch::ones({1}, torch::kFloat).to(device.device());
  // The second factor is stored as its transpose, as a layer's weight is.
  const auto multiply = [&one](const torch::Tensor& left, const torch::Tensor& right, bool fast) {
    at::_scaled_mm(left, right.t(), one, one, {}, {}, at::kBFloat16, fast);
  };
  const int64_t size = affordable_square(device, [&](int64_t n) -> std::function<void()> {
    const torch::Tensor square = random({n, n}, device.device(), at::kFloat8_e4m3fn);
    return [square, &multiply] { multiply(square, square, true); };
  });
  const torch::Tensor value = random({size, size}, device.device(), at::kFloat8_e4m3fn);
  const torch::Tensor gradient = random({size, size}, device.device(), at::kFloat8_e5m2);
  const double operations = cubed(size);
  json found =
      rates_of(device,
               {{"forward", operations, [&] { multiply(value, value, true); }},
                {"input_gradient", operations, [&] { multiply(gradient, value, false); }},
                {"weight_gradient", operations, [&] { multiply(gradient, value, false); }}},
               seconds);
  found["shape"] = {size, size, size};
  return found;
}

json linear_rates(DeviceModule& device, double seconds) {
  // A hidden layer of `mlp`, with rows between its 64 and the 2,000 to 4,000 tokens that a batch of
  // `gpt` or `vit_tiny` has.
  constexpr int64_t kRows = 512;
  constexpr int64_t kFeatures = 512;
  const torch::Tensor input = random({kRows, kFeatures}, device.device(), at::kFloat);
  const torch::Tensor weight = random({kFeatures, kFeatures}, device.device(), at::kFloat);
  const torch::Tensor bias = random({kFeatures}, device.device(), at::kFloat);
  const torch::Tensor gradient = random({kRows, kFeatures}, device.device(), at::kFloat);
  for (torch::Tensor leaf : {input, weight, bias}) leaf.requires_grad_(true);
  const auto trained_by = [&](auto&& layer) {
    return [&, layer] {
      torch::autograd::grad({layer(input, weight, bias)}, {input, weight}, {gradient});
    };
  };
  const double operations =
      kProducts * 2.0 * static_cast<double>(kRows) * static_cast<double>(kFeatures * kFeatures);
  std::vector<Part> parts = {
      {"default", operations,
       trained_by([](const torch::Tensor& x, const torch::Tensor& w, const torch::Tensor& b) {
         return at::linear(x, w, b);
       })}};
  if (has_onednn_linear()) parts.push_back({"onednn", operations, trained_by(onednn_linear)});
  json found = rates_of(device, parts, seconds);
  if (parts.size() == 1) found["onednn"] = nullptr;
  for (const char* sum : {"tflops", "low", "high"}) found.erase(sum);  // of both together
  found["shape"] = {kRows, kFeatures, kFeatures};
  return found;
}

json convolution_rate(DeviceModule& device, at::ScalarType type, double seconds) {
  torch::NoGradGuard no_grad;
  // A middle layer of ResNet on small images.
  constexpr int64_t kChannels = 64;
  constexpr int64_t kExtent = 32;
  constexpr int64_t kKernel = 3;
  const auto operations_of = [](int64_t batch) {
    return 2.0 * static_cast<double>(batch * kChannels * kChannels * kExtent * kExtent * kKernel *
                                     kKernel);
  };
  const WorkOfSize layer = [&](int64_t batch) -> std::function<void()> {
    const torch::Tensor images =
        random({batch, kChannels, kExtent, kExtent}, device.device(), type);
    const torch::Tensor weight =
        random({kChannels, kChannels, kKernel, kKernel}, device.device(), type);
    return [images, weight] { at::conv2d(images, weight, {}, 1, 1); };
  };
  const std::vector<int64_t> sizes =
      device.is_cpu() ? std::vector<int64_t>{1, 4, 16} : std::vector<int64_t>{16, 64, 256, 1024};
  const int64_t batch = affordable_size(device, sizes, operations_of, layer);
  const torch::Tensor input = random({batch, kChannels, kExtent, kExtent}, device.device(), type);
  const torch::Tensor weight =
      random({kChannels, kChannels, kKernel, kKernel}, device.device(), type);
  const torch::Tensor gradient =
      random({batch, kChannels, kExtent, kExtent}, device.device(), type);
  const double operations = operations_of(batch);
  const auto forward = [&] { at::conv2d(input, weight, {}, 1, 1); };
  const auto backward = [&] {
    at::convolution_backward(gradient, input, weight, at::OptionalIntArrayRef(), {1, 1}, {1, 1},
                             {1, 1}, false, {0, 0}, 1, {true, true, false});
  };
  json found = rates_of(
      device, {{"forward", operations, forward}, {"backward", 2 * operations, backward}}, seconds);
  found["shape"] = {batch, kChannels, kChannels, kExtent, kExtent, kKernel};
  return found;
}

}  // namespace precbench::train
