#include "bench/plan/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/plan/parse_value.h"
#include "bench/platform/cpu_count.h"
#include "common/errors.h"
#include "common/names.h"
#include "common/suggest.h"

namespace precbench {
namespace {

const ModeTraits& mode_named(const std::string& name, const std::string& where, Plan& plan) {
  const ModeTraits* mode = find_mode(name);
  if (mode == nullptr) {
    std::string message = where + ": unknown mode '" + name + "'";
    if (const auto guess = nearest(name, mode_names()))
      message += "; did you mean '" + *guess + "'?";
    throw UsageError(message + "\n       modes: " + joined(mode_names()));
  }
  if (mode->name != name && mode->alias_is_discouraged) {
    plan.warnings.push_back(
        fmt::format("`precision={}` is supported for historical reasons but its usage is "
                    "discouraged. Please set your precision to {} instead!",
                    name, mode->name));
  }
  return *mode;
}

void add_mode(Plan& plan, const ModeTraits& mode) {
  const bool is_new = std::find(plan.modes.begin(), plan.modes.end(), &mode) == plan.modes.end();
  if (is_new) {
    plan.modes.push_back(&mode);
  } else {
    plan.warnings.push_back(
        fmt::format("mode {} is named twice; it runs once (use --repeats for more)", mode.name));
  }
}

void take_modes(const ResolvedOptions& options, Plan& plan) {
  const std::vector<std::string> names = options.texts("modes");
  const bool is_set = names.size() == 1 && (names[0] == "all" || names[0] == "native");
  if (is_set) {
    for (const ModeTraits& mode : kModes) plan.modes.push_back(&mode);
    plan.native_modes_only = names[0] == "native";
  } else {
    for (const std::string& name : names)
      add_mode(plan, mode_named(name, options.at("modes").where, plan));
  }
  plan.reference = plan.modes.front();
  for (const ModeTraits* mode : plan.modes) {
    if (mode->name == "32-true") plan.reference = mode;
  }
  if (!options.has("reference")) return;
  const ModeTraits& wanted =
      mode_named(options.text("reference"), options.at("reference").where, plan);
  if (std::find(plan.modes.begin(), plan.modes.end(), &wanted) == plan.modes.end()) {
    throw UsageError(fmt::format("{}: mode {} is not among --modes", options.at("reference").where,
                                 wanted.name));
  }
  plan.reference = &wanted;
}

void take_seeds(const ResolvedOptions& options, Plan& plan) {
  plan.repeats = options.integer("repeats");
  if (options.has("seeds") && options.is_given("seed") &&
      options.at("seed").source == options.at("seeds").source) {
    throw UsageError("--seed and --seeds cannot both be given");
  }
  if (!options.has("seeds") || (options.is_given("seed") && options.at("seed").source == "flag")) {
    plan.seeds = {static_cast<uint32_t>(options.integer("seed"))};
    return;
  }
  for (const int64_t seed : options.integers("seeds")) {
    const auto value = static_cast<uint32_t>(seed);
    if (std::find(plan.seeds.begin(), plan.seeds.end(), value) != plan.seeds.end()) {
      throw UsageError(fmt::format("{}: seed {} is named twice; use --repeats to repeat a seed",
                                   options.at("seeds").where, seed));
    }
    plan.seeds.push_back(value);
  }
}

void take_dataset(const ResolvedOptions& options, DatasetJob& dataset) {
  dataset.name = options.text("dataset");
  dataset.dir = options.text("data-dir");
  dataset.limit_train = options.integer("limit-train");
  dataset.limit_test = options.integer("limit-test");
  dataset.image_size = options.integer("image-size");
  dataset.augment = options.flag("augment");
  dataset.synthetic_shape = options.integers("synthetic-shape");
  if (dataset.synthetic_shape.size() != 3) {
    throw UsageError(options.at("synthetic-shape").where + ": must be channels,height,width");
  }
  dataset.synthetic_classes = options.integer("synthetic-classes");
  dataset.synthetic_train = options.integer("synthetic-train");
  dataset.synthetic_test = options.integer("synthetic-test");
}

void take_optimizer(const ResolvedOptions& options, Plan& plan) {
  const OptimizerTraits& traits = *find_optimizer(options.text("optimizer"));
  const bool is_sgd = traits.name == "sgd";
  for (const char* name : {"momentum", "nesterov"}) {
    if (!is_sgd && options.is_given(name)) {
      throw UsageError(fmt::format("{} belongs to sgd; the optimizer is {}", options.at(name).where,
                                   traits.name));
    }
  }
  OptimizerJob& optimizer = plan.job.optimizer;
  optimizer.name = traits.name;
  optimizer.lr = options.number("lr").value_or(traits.lr);
  optimizer.momentum = options.number("momentum").value_or(traits.momentum);
  optimizer.nesterov = options.flag("nesterov");
  if (optimizer.nesterov && optimizer.momentum <= 0) {
    throw UsageError(options.at("nesterov").where +
                     " needs a momentum above 0");  // as torch.optim.SGD
  }
  optimizer.weight_decay = options.number("weight-decay").value_or(traits.weight_decay);
  optimizer.clip_norm = options.number("clip-norm");
  optimizer.clip_value = options.number("clip-value");
  if (optimizer.clip_norm && optimizer.clip_value) {
    throw UsageError(
        "--clip-norm and --clip-value cannot both be given");  // as fabric.clip_gradients
  }
  optimizer.accumulate = options.integer("accumulate");
  plan.optimizer_impl = options.text("optimizer-impl");
}

void take_training(const ResolvedOptions& options, TrainJob& job) {
  job.model = options.text("model");
  job.batch_size = options.integer("batch-size");
  job.epochs = options.integer("epochs");
  job.steps = options.integer("steps");
  job.eval_every = options.integer("eval-every");
  job.schedule.name = options.text("schedule");
  job.schedule.warmup_steps = options.integer("warmup-steps");
  job.schedule.on_skip = options.text("schedule-on-skip");
  job.label_smoothing = options.number("label-smoothing").value_or(0.0);
  job.init = options.text("init");
  job.init_weights = options.text("init-weights");
  job.save_weights = options.text("save-weights");
  job.dump_trace = options.text("dump-trace");
  job.loss_autocast = options.flag("loss-autocast");
  job.tf32 = options.text("tf32");
  job.cpu_fp16 = options.text("cpu-fp16");
  job.deterministic = options.text("deterministic");
  job.fp8_recipe = options.text("fp8-recipe");
  job.keep_going = options.flag("keep-going");
  job.memory_limit_bytes = options.integer("memory-limit");
  job.inject_inf_at_step = options.integer("inject-inf-at-step");
}

void take_control(const ResolvedOptions& options, Plan& plan) {
  const std::string order = options.text("order");
  const bool runs_repeat = plan.repeats > 1 || plan.seeds.size() > 1;
  plan.order = order == "random"                                     ? Order::random
               : order == "rotate" || (order.empty() && runs_repeat) ? Order::rotate
                                                                     : Order::given;
  plan.timeout_s = options.number("timeout");
  plan.pilot_steps = options.integer("pilot");
  plan.budget_s = options.number("budget");
  if (plan.budget_s && plan.pilot_steps == 0) {
    throw UsageError(options.at("budget").where +
                     " needs pilot steps to project from; --pilot is 0");
  }
  plan.emulated = options.text("emulated") == "skip" ? EmulatedModes::skip : EmulatedModes::run;
  plan.results_dir = options.text("results-dir");
  plan.save = !options.flag("no-save");
  plan.resume = options.text("resume");
  plan.dry_run = options.flag("dry-run");
  for (const std::string& pair : options.texts("context")) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(options.at("context").where + ": '" + pair + "' is not key=value");
    }
    plan.context[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  plan.gate = {options.text("baseline"), options.texts("fail-on"), options.flag("strict-gate")};
  if (plan.gate.baseline.empty() && (!plan.gate.fail_on.empty() || plan.gate.strict)) {
    throw UsageError("--fail-on and --strict-gate need a --baseline FILE to compare with");
  }
}

void take_output(const ResolvedOptions& options, OutputPlan& output) {
  output.format = options.text("format");
  for (const char* format : {"json", "csv", "markdown", "html", "junit", "github"}) {
    const std::string path = options.text(std::string("export-") + format);
    if (!path.empty()) output.exports.push_back({format, path});
  }
  const std::string color = options.text("color");
  output.color = color == "always"  ? ColorChoice::always
                 : color == "never" ? ColorChoice::never
                                    : ColorChoice::automatic;
  const std::string progress = options.text("progress");
  output.progress = progress == "plain"  ? ProgressChoice::plain
                    : progress == "none" ? ProgressChoice::none
                                         : ProgressChoice::automatic;
  output.quiet = options.flag("quiet");
  output.verbose = options.flag("verbose");
}

// "cpu", "cuda", "cuda:1", "simulated:t4"
void check_device(const ResolvedOptions& options, const std::string& device) {
  const bool has_index =
      device.rfind("cuda:", 0) == 0 && parse_integer(device.substr(5)).value_or(-1) >= 0;
  const bool is_simulated = device.rfind("simulated:", 0) == 0 && device.size() > 10;
  if (device == "auto" || device == "cpu" || device == "cuda" || has_index || is_simulated) return;
  throw UsageError(options.at("device").where + ": unknown device '" + device +
                   "'\n       allowed: auto cpu cuda cuda:N");
}

std::string plural(int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string title_of(const ResolvedOptions& options, const Plan& plan) {
  const TrainJob& job = plan.job;
  std::string title = options.config_name().empty() ? "" : options.config_name() + ": ";
  title += fmt::format("{}, {}, batch {}, {} lr {:g}, ", job.model, job.dataset.name,
                       job.batch_size, job.optimizer.name, job.optimizer.lr);
  title += job.steps > 0 ? plural(job.steps, "step") : plural(job.epochs, "epoch");
  title += plan.seeds.size() == 1 ? fmt::format(", seed {}", plan.seeds[0])
                                  : ", " + plural(static_cast<int64_t>(plan.seeds.size()), "seed");
  return title + ", " + plural(plan.repeats, "run") + " per mode" +
         (plan.seeds.size() > 1 ? " and seed" : "");
}

}  // namespace

Plan make_plan(const ResolvedOptions& options, std::vector<std::string> argv) {
  Plan plan;
  plan.argv = std::move(argv);
  take_modes(options, plan);
  take_seeds(options, plan);
  take_dataset(options, plan.job.dataset);
  take_optimizer(options, plan);
  take_training(options, plan.job);
  take_control(options, plan);
  take_output(options, plan.output);
  plan.profile = options.text("profile");
  plan.memory_format = options.text("memory-format");
  plan.gemm = options.text("gemm");
  plan.device = options.text("device");
  check_device(options, plan.device);
  plan.threads = options.has("threads") ? options.integer("threads") : usable_cores();
  const bool is_one_run = plan.modes.size() == 1 && plan.seeds.size() == 1 && plan.repeats == 1;
  for (const char* name : {"save-weights", "dump-trace"}) {
    if (options.has(name) && !is_one_run) {
      throw UsageError(options.at(name).where +
                       " writes one file: name one mode, one seed and one repeat");
    }
  }
  plan.title = title_of(options, plan);
  plan.config = options.as_json();
  return plan;
}

}  // namespace precbench
