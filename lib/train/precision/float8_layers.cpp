#include "train/precision/float8_layers.h"

#include <algorithm>
#include <cmath>

#include "train/models/layers.h"

namespace precbench::train {
namespace {

struct Kind {
  const char* name;
  Float8Scaling Float8LayerImpl::*scaling;
};

constexpr Kind kKinds[] = {{"input", &Float8LayerImpl::input},
                           {"weight", &Float8LayerImpl::weight},
                           {"gradient", &Float8LayerImpl::gradient}};

json share(const torch::Tensor& part, int64_t whole) {
  if (whole == 0 || !part.defined()) return nullptr;
  return static_cast<double>(part.item<int64_t>()) / static_cast<double>(whole);
}

}  // namespace

void Float8Layers::attach(torch::nn::Module& model) {
  std::vector<std::pair<std::string, std::shared_ptr<LinearImpl>>> linear_layers;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    if (const auto linear = std::dynamic_pointer_cast<LinearImpl>(item.value())) {
      linear_layers.emplace_back(item.key(), linear);
    } else if (auto* norm = item.value()->as<LayerNormImpl>()) {
      norm->ignore_autocast();
    }
  }
  for (const auto& [name, linear] : linear_layers) {
    const int64_t in = linear->weight.size(1);
    const int64_t out = linear->weight.size(0);
    if (in % kInputMultiple != 0 || out % kOutputMultiple != 0) {
      kept_.push_back({name, in, out});
      continue;
    }
    layers_.push_back({name, Float8Layer(settings_.recipe, settings_.kernel)});
    linear->use_float8(layers_.back().layer);
  }
}

void Float8Layers::end_forward() {
  for (Attached& each : layers_) each.layer->end_forward();
}

void Float8Layers::end_backward() {
  for (Attached& each : layers_) each.layer->end_backward();
}

void Float8Layers::count(bool on) {
  for (Attached& each : layers_) each.layer->count(on);
}

void Float8Layers::note_step(double all_flops) {
  double flops = 0;
  for (const Attached& each : layers_) flops += each.layer->flops;
  flop_share_ = all_flops > 0 ? flops / all_flops : 0;
  noted_ = all_flops > 0;
}

void Float8Layers::exchange(RunState& state) {
  state.value("float8.flop_share", flop_share_);
  state.value("float8.noted", noted_);
  for (Attached& each : layers_) {
    const std::string name = "float8." + each.name;
    state.value(name + ".flops", each.layer->flops);
    state.value(name + ".copy_bytes", each.layer->copy_bytes);
    for (const Kind& kind : kKinds) {
      ((*each.layer).*kind.scaling).exchange(state, name + "." + kind.name);
    }
  }
}

json Float8Layers::report() const {
  json result = recipe_json(settings_.recipe);
  result["kernel"] = settings_.kernel == Float8Kernel::scaled_mm
                         ? "at::_scaled_mm"
                         : "float32 products of FP8 numbers";
  for (const char* list : {"layers", "idle", "kept"}) result[list] = json::array();
  int64_t copies = 0;
  int64_t state = 0;
  for (const Attached& each : layers_) {
    result[ran(each) ? "layers" : "idle"].push_back(each.name);
    copies += each.layer->copy_bytes;
    for (const torch::Tensor& buffer : each.layer->buffers()) {
      state += static_cast<int64_t>(buffer.nbytes());
    }
  }
  for (const Kept& each : kept_) {
    result["kept"].push_back({{"name", each.name}, {"in", each.in}, {"out", each.out}});
  }
  result["flop_share"] = noted_ ? json(flop_share_) : json();
  result["copy_bytes"] = copies;
  result["state_bytes"] = state;
  return result;
}

json Float8Layers::telemetry() const {
  json result;
  for (const Kind& kind : kKinds) {
    std::vector<double> scales, maxima;
    torch::Tensor clipped, flushed;
    int64_t elements = 0;
    for (const Attached& each : layers_) {
      if (!ran(each)) continue;
      const Float8Scaling& scaling = (*each.layer).*kind.scaling;
      scales.push_back(scaling.scale().item<float>());
      maxima.push_back(scaling.amax());
      const Float8Counts& counts = scaling.counts();
      if (counts.elements == 0) continue;
      elements += counts.elements;
      clipped = clipped.defined() ? clipped + counts.clipped : counts.clipped;
      flushed = flushed.defined() ? flushed + counts.flushed : counts.flushed;
    }
    if (scales.empty()) continue;
    const auto [least_scale, most_scale] = std::minmax_element(scales.begin(), scales.end());
    const auto [least_amax, most_amax] = std::minmax_element(maxima.begin(), maxima.end());
    result[kind.name] = {{"smallest_scale", *least_scale},
                         {"largest_scale", *most_scale},
                         {"smallest_amax", *least_amax},
                         {"largest_amax", *most_amax},
                         {"clipped_share", share(clipped, elements)},
                         {"flushed_share", share(flushed, elements)},
                         {"elements", elements}};
  }
  return result;
}

std::vector<std::string> Float8Layers::notes(const std::string& kept_dtype) const {
  if (std::none_of(layers_.begin(), layers_.end(), [this](auto& each) { return ran(each); })) {
    return {"no layer ran in FP8: this was " + kept_dtype + " throughout"};
  }
  std::vector<std::string> notes;
  if (!kept_.empty()) {
    const Kept& first = kept_.front();
    std::string kept =
        first.name + " (" + std::to_string(first.in) + " -> " + std::to_string(first.out) + ")";
    if (kept_.size() > 1) kept += " and " + std::to_string(kept_.size() - 1) + " more";
    notes.push_back(kept + " stays in " + kept_dtype + ": FP8 takes inputs divisible by " +
                    std::to_string(kInputMultiple) + " and outputs by " +
                    std::to_string(kOutputMultiple));
  }
  const json told = telemetry();
  for (const Kind& kind : kKinds) {
    if (!told.contains(kind.name)) continue;
    const json& clipped = told.at(kind.name).at("clipped_share");
    if (!clipped.is_number() || clipped.get<double>() <= kRemarkableClipping) continue;
    const auto percent = std::lround(100 * clipped.get<double>());
    notes.push_back("FP8 clips " + std::to_string(percent) + " % of the " + kind.name +
                    "s' elements that were looked at");
  }
  return notes;
}

}  // namespace precbench::train
