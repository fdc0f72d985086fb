// Replays histories of a loss scaler: JSON on stdin (test_scaler.py describes it), what happened on
// stdout.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "train/base/torch.h"
#include "train/precision/grad_scaler.h"

namespace precbench::train {
namespace {

constexpr int64_t kParameters = 37;  // more than two vectors of 16, and a rest
constexpr int64_t kInjectedAt = 11;

float injected_value(const std::string& name) {
  if (name == "nan") return std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  return name == "inf" ? infinity : -infinity;
}

OptimizerJob optimizer_of(const json& history) {
  OptimizerJob job;
  job.name = history.at("optimizer");
  job.impl = history.at("impl");
  if (job.name == "adamw") {
    job.lr = 1e-3;
    job.weight_decay = 0.01;
  }
  return job;
}

json hexadecimal(double value) {
  if (std::isnan(value)) return "nan";
  char text[64];
  std::snprintf(text, sizeof(text), "%.13a", value);
  return text;
}

json replay(const json& history) {
  torch::Tensor parameter = torch::linspace(-1, 1, kParameters).set_requires_grad(true);
  const auto optimizer = make_optimizer(optimizer_of(history), {parameter});
  GradScalerState state;
  state.scale = history.at("init_scale");
  state.growth_factor = history.at("growth_factor");
  state.backoff_factor = history.at("backoff_factor");
  state.growth_interval = history.at("growth_interval");
  GradScaler scaler(state);
  json played = json::array();
  for (const json& step : history.at("steps")) {
    optimizer->drop_gradients();
    scaler.scale((parameter * step.at("slope").get<double>()).sum()).backward();
    if (!step.at("injected").is_null()) {
      parameter.mutable_grad()[kInjectedAt] = injected_value(step.at("injected"));
    }
    if (step.at("unscale_first").get<bool>()) scaler.unscale(*optimizer);
    scaler.step(*optimizer);
    scaler.update();
    json values = json::array();
    for (int64_t i = 0; i < kParameters; ++i) {
      values.push_back(hexadecimal(parameter[i].item<double>()));
    }
    played.push_back({values, hexadecimal(scaler.current_scale()), scaler.state().growth_tracker});
  }
  return played;
}

}  // namespace
}  // namespace precbench::train

int main() {
  const auto histories = nlohmann::json::parse(std::cin);
  nlohmann::json played = nlohmann::json::array();
  for (const auto& history : histories) played.push_back(precbench::train::replay(history));
  std::cout << played << '\n';
  return EXIT_SUCCESS;
}
