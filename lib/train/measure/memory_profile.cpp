#include "train/measure/memory_profile.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <map>

namespace precbench::train {
namespace {

int64_t bytes_of(const std::vector<torch::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const torch::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

// Callbacks are plain functions: what the one observer at a time looks for and has found.
using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;
struct WeightCast {
  std::optional<WeakStorage> storage;
  int64_t bytes = 0;
};
std::map<const void*, WeightCast> cast_of_weight;

}  // namespace

// Sees casts of parameters to another type, which autocast keeps until the end of the forward pass
// and the operations that used them until their backward.
class MemoryProfile::CastObserver {
 public:
  explicit CastObserver(const std::vector<torch::Tensor>& parameters) {
    cast_of_weight.clear();
    for (const torch::Tensor& parameter : parameters) {
      cast_of_weight[parameter.unsafeGetTensorImpl()] = {};
    }
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(begin, end)
                                             .needsInputs(true)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
  }
  ~CastObserver() { at::removeCallback(handle_); }
  CastObserver(const CastObserver&) = delete;
  CastObserver& operator=(const CastObserver&) = delete;

  // Of the casts that are still there.
  static int64_t bytes() {
    int64_t sum = 0;
    for (const auto& [weight, cast] : cast_of_weight) {
      if (cast.storage && !cast.storage->expired()) sum += cast.bytes;
    }
    return sum;
  }

 private:
  struct Cast : at::ObserverContext {
    const void* weight = nullptr;
  };

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (std::string_view(function.name()) != "aten::_to_copy" || function.inputs().empty() ||
        !function.inputs()[0].isTensor()) {
      return nullptr;
    }
    auto cast = std::make_unique<Cast>();
    cast->weight = function.inputs()[0].toTensor().unsafeGetTensorImpl();
    return cast;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    if (context == nullptr || function.outputs().empty()) return;
    const auto found = cast_of_weight.find(static_cast<Cast*>(context)->weight);
    if (found == cast_of_weight.end() || !function.outputs()[0].isTensor()) return;
    const torch::Tensor& cast = function.outputs()[0].toTensor();
    found->second = {cast.storage().getWeakStorageImpl(), static_cast<int64_t>(cast.nbytes())};
  }

  at::CallbackHandle handle_;
};

MemoryProfile::MemoryProfile(DeviceModule& device, const torch::nn::Module& model,
                             const Optimizer& optimizer, int64_t resident_bytes,
                             int64_t total_steps)
    : device_(device),
      model_(model),
      optimizer_(optimizer),
      resident_bytes_(resident_bytes),
      total_steps_(total_steps) {
  device_.reset_peak_memory();
}

MemoryProfile::~MemoryProfile() = default;

bool MemoryProfile::wants(int64_t step, int64_t total_steps) {
  return step == std::min<int64_t>(1, total_steps - 1);
}

int64_t MemoryProfile::allocated() const {
  return device_.memory().allocated_bytes - resident_bytes_;
}

int64_t MemoryProfile::peak_bytes() const {
  return std::max(peak_bytes_, device_.memory().peak_allocated_bytes - resident_bytes_);
}

void MemoryProfile::pause() { peak_bytes_ = peak_bytes(); }

void MemoryProfile::resume() { device_.reset_peak_memory(); }

void MemoryProfile::exchange(RunState& state) {
  const int64_t here = peak_bytes_;
  state.value("memory.peak_bytes", peak_bytes_);
  peak_bytes_ = std::max(peak_bytes_, here);
  json phases = json::array();
  for (const Phase& phase : phases_) {
    phases.push_back({phase.name, phase.peak, phase.gradients, phase.casts, phase.optimizer});
  }
  state.value("memory.phases", phases);
  state.value("memory.points", points_);
  state.value("memory.done", done_);
  if (!state.restores()) return;
  phases_.clear();
  for (const json& phase : phases) {
    phases_.push_back({phase.at(0), phase.at(1), phase.at(2), phase.at(3), phase.at(4)});
  }
}

void MemoryProfile::close(const std::string& name, int64_t gradients, int64_t casts) {
  const int64_t peak = device_.memory().peak_allocated_bytes - resident_bytes_;
  phases_.push_back({name, peak, gradients, casts, bytes_of(optimizer_.state())});
  peak_bytes_ = std::max(peak_bytes_, peak);
  points_[name] = allocated();
  device_.reset_peak_memory();
}

void MemoryProfile::before_step(int64_t step) {
  if (done_ || !looks_into(step)) return;
  peak_bytes_ = peak_bytes();
  device_.reset_peak_memory();
  casts_ = std::make_unique<CastObserver>(optimizer_.parameters());
}

void MemoryProfile::after_forward(const Batch& /*batch*/) {
  if (casts_ == nullptr) return;
  points_["autocast"] = casts_at_peak_ = CastObserver::bytes();
  close("forward", bytes_of(gradients_of(optimizer_.parameters())), casts_at_peak_);
  watch_gradients();
}

// A gradient is there when its hook is called; those of later operations are not.
void MemoryProfile::watch_gradients() {
  gradients_so_far_ = bytes_of(gradients_of(optimizer_.parameters()));
  gradients_at_peak_ = gradients_so_far_;
  backward_peak_ = allocated_at_hook_ = 0;
  hooks_.clear();
  for (const torch::Tensor& parameter : optimizer_.parameters()) {
    const bool accumulates = parameter.grad().defined();
    hooks_.push_back(parameter.register_hook([this, accumulates](const torch::Tensor& gradient) {
      const int64_t before = gradients_so_far_;
      if (!accumulates) gradients_so_far_ += static_cast<int64_t>(gradient.nbytes());
      const DeviceMemory memory = device_.memory();
      // Nothing came or went since the last hook: both gradients are of one operation, and were
      // there at its peak.
      const bool same_operation = memory.allocated_bytes == allocated_at_hook_;
      const bool was_at_peak = gradients_at_peak_ == before;
      allocated_at_hook_ = memory.allocated_bytes;
      if (memory.peak_allocated_bytes > backward_peak_ || (same_operation && was_at_peak)) {
        gradients_at_peak_ = gradients_so_far_;
      }
      if (memory.peak_allocated_bytes > backward_peak_) casts_at_peak_ = CastObserver::bytes();
      backward_peak_ = memory.peak_allocated_bytes;
    }));
  }
}

void MemoryProfile::after_backward() {
  if (casts_ == nullptr) return;
  const auto& parameters = optimizer_.parameters();
  for (size_t i = 0; i < hooks_.size(); ++i) parameters[i].remove_hook(hooks_[i]);
  hooks_.clear();
  const int64_t gradients = bytes_of(gradients_of(parameters));
  points_["gradients"] = gradients;
  const bool later = device_.memory().peak_allocated_bytes > backward_peak_;
  close("backward", later ? gradients : gradients_at_peak_,
        later ? CastObserver::bytes() : casts_at_peak_);
}

void MemoryProfile::after_step(Step& /*step*/) {
  if (casts_ == nullptr) return;
  casts_.reset();
  close("step", points_.value("gradients", int64_t{0}), 0);
  points_["model"] = bytes_of(model_.parameters()) + bytes_of(model_.buffers());
  points_["optimizer"] = phases_.back().optimizer;
  done_ = true;
}

std::optional<json> MemoryProfile::breakdown() const {
  if (!done_) return std::nullopt;
  const auto highest =
      std::max_element(phases_.begin(), phases_.end(),
                       [](const Phase& a, const Phase& b) { return a.peak < b.peak; });
  const int64_t model = points_["model"];
  const int64_t counted = model + highest->optimizer + highest->gradients + highest->casts;
  return json{{"weights_bytes", model},
              {"gradients_bytes", highest->gradients},
              {"optimizer_bytes", highest->optimizer},
              {"autocast_bytes", highest->casts},
              {"activations_bytes", highest->peak - counted},
              {"peak", {{"phase", highest->name}, {"bytes", highest->peak}}},
              {"points", points_}};
}

}  // namespace precbench::train
