#include "bench/plan/choose_modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/engines.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
namespace {

// Words that people know from elsewhere (PyTorch's dtypes, other trainers' flags). Fabric takes
// none of them, so they are answered, not accepted.
struct ForeignName {
  std::string_view name, ours;
};
constexpr ForeignName kForeignNames[] = {
    {"fp16", "16-mixed' or '16-true"},
    {"float16", "16-mixed' or '16-true"},
    {"half", "16-mixed' or '16-true"},
    {"amp", "16-mixed' or 'bf16-mixed"},
    {"bfloat16", "bf16-mixed' or 'bf16-true"},
    {"fp32", "32-true"},
    {"float32", "32-true"},
    {"float", "32-true"},
    {"fp64", "64-true"},
    {"float64", "64-true"},
    {"double", "64-true"},
    {"fp8", "transformer-engine"},
};

std::optional<std::string> meant(const std::string& name) {
  for (const ForeignName& foreign : kForeignNames) {
    if (foreign.name == name) return std::string(foreign.ours);
  }
  return nearest(name, mode_names());
}

const ModeTraits& mode_named(const std::string& name, const std::string& where, Plan& plan) {
  const ModeTraits* mode = find_mode(name);
  if (mode == nullptr) {
    if (name == "all" || name == "native")
      throw UsageError(where + ": '" + name + "' stands alone, not beside other modes");
    std::string message = where + ": unknown mode '" + name + "'";
    if (const auto guess = meant(name)) message += "; did you mean '" + *guess + "'?";
    throw UsageError(message + "\n       modes: " + joined(mode_names()) + "; all; native");
  }
  if (mode->name != name && mode->alias_is_discouraged) {
    // lightning.fabric.connector's sentence.
    plan.warnings.push_back(
        fmt::format("`precision={}` is supported for historical reasons but its usage is "
                    "discouraged. Please set your precision to {} instead!",
                    name, mode->name));
  }
  return *mode;
}

bool has(const Plan& plan, const ModeTraits& mode) {
  return std::find(plan.modes.begin(), plan.modes.end(), &mode) != plan.modes.end();
}

void add_mode(const ModeTraits& mode, Plan& plan) {
  if (has(plan, mode)) {
    plan.warnings.push_back(
        fmt::format("mode {} is named twice; it runs once (use --repeats for more)", mode.name));
    return;
  }
  plan.modes.push_back(&mode);
}

}  // namespace

void choose_modes(const ResolvedOptions& options, Plan& plan) {
  const std::vector<std::string> names = options.texts("modes");
  if (names.size() == 1 && (names[0] == "all" || names[0] == "native")) {
    for (const ModeTraits& mode : kModes) plan.modes.push_back(&mode);
    plan.native_modes_only = names[0] == "native";
  } else {
    for (const std::string& name : names)
      add_mode(mode_named(name, options.at("modes").where, plan), plan);
  }
  const ModeTraits* full = find_mode("32-true");
  plan.reference = has(plan, *full) ? full : plan.modes.front();
  if (!options.has("reference")) return;
  const std::string& where = options.at("reference").where;
  const std::string name = options.text("reference");
  const ModeTraits& wanted = mode_named(mode_of_row(name), where, plan);
  const std::string engine = engine_of_row(name);
  if (engine != kLibtorchEngine) plan.reference_engine = engine;
  if (std::find(plan.engines.begin(), plan.engines.end(), plan.reference_engine) ==
      plan.engines.end()) {
    throw UsageError(where + ": engine " + engine + " is not among --engine");
  }
  if (!has(plan, wanted)) {
    std::vector<std::string> chosen;
    for (const ModeTraits* mode : plan.modes) chosen.emplace_back(mode->name);
    throw UsageError(fmt::format("{}: mode {} is not among --modes\n       allowed: {}", where,
                                 wanted.name, joined(chosen)));
  }
  plan.reference = &wanted;
}

}  // namespace precbench
