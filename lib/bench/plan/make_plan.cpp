#include "bench/plan/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/files/atomic_file.h"
#include "bench/judge/gate.h"
#include "bench/plan/choose_modes.h"
#include "bench/plan/parse_value.h"
#include "bench/plan/strangers.h"
#include "bench/platform/cpu_count.h"
#include "bench/report/export.h"
#include "bench/report/formats.h"
#include "bench/report/heading.h"
#include "common/engines.h"
#include "common/errors.h"
#include "common/names.h"
#include "common/target.h"

namespace precbench {
namespace {

void take_seeds(const ResolvedOptions& options, Plan& plan) {
  if (!options.has("seeds")) {
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

bool is_torch_file(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  return extension == ".pt" || extension == ".pth";
}

// "model.py:name", or "timm:name" and the like.
bool is_python(const std::string& place) {
  constexpr std::string_view kLibraries[] = {"timm:", "torchvision:", "hf:"};
  return place.rfind(".py:") != std::string::npos ||
         std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [&](std::string_view library) { return place.starts_with(library); });
}

void require_function(const ResolvedOptions& options, const char* option) {
  if (!options.text(option).ends_with(".py")) return;
  throw UsageError(options.at(option).where +
                   ": name a function of that file: " + options.text(option) +
                   ":NAME\n       `precbench init model.py` writes an example");
}

// Engines that the model and the data can be trained in, as far as that is known by now.
void take_engines(const ResolvedOptions& options, Plan& plan) {
  const bool needs_python = is_python(options.text("model")) || is_python(options.text("dataset"));
  plan.engines = options.texts("engine");
  const std::string& where = options.at("engine").where;
  if (needs_python && !options.is_given("engine")) plan.engines = {std::string(kFabricEngine)};
  std::vector<std::string> seen;
  for (const std::string& engine : plan.engines) {
    if (std::find(kEngines.begin(), kEngines.end(), engine) == kEngines.end()) {
      throw UsageError(where + ": unknown engine '" + engine +
                       "'\n       engines: libtorch fabric");
    }
    if (std::find(seen.begin(), seen.end(), engine) != seen.end()) {
      throw UsageError(where + ": engine " + engine + " is named twice");
    }
    seen.push_back(engine);
  }
  plan.reference_engine = plan.engines.front();
  const bool has_libtorch = std::find(seen.begin(), seen.end(), kLibtorchEngine) != seen.end();
  const bool has_fabric = std::find(seen.begin(), seen.end(), kFabricEngine) != seen.end();
  if (needs_python && has_libtorch) {
    throw UsageError(where + ": a model or data set in Python needs --engine fabric alone");
  }
  if (!has_fabric && plan.job.compile) {
    throw UsageError(options.at("compile").where + " needs --engine fabric");
  }
  if (has_fabric && (plan.job.cuda_graph || plan.find_max_batch || plan.own_batches)) {
    throw UsageError(where + ": fabric has no " +
                     (plan.find_max_batch ? "--find-max-batch"
                      : plan.own_batches  ? "--batch-size max"
                                          : "--cuda-graph"));
  }
  if (has_fabric && plan.device.starts_with("simulated")) {
    throw UsageError(where + ": fabric has no simulated device");
  }
}

// A file is a bundle of tensors, a function of it or, whatever its name, a text.
void take_dataset_name(const ResolvedOptions& options, DatasetJob& dataset) {
  dataset.name = options.text("dataset");
  if (find_dataset(dataset.name) != nullptr) return;
  if (!dataset.dir.empty()) {
    throw UsageError(options.at("data-dir").where + ": " + options.at("dataset").where +
                     " names a file already");
  }
  require_function(options, "dataset");
  dataset.dir = dataset.name;
  dataset.name = is_python(dataset.dir) ? kPython : is_torch_file(dataset.dir) ? "bundle" : "text";
}

void take_optimizer(const ResolvedOptions& options, OptimizerJob& optimizer) {
  const OptimizerTraits& traits = *find_optimizer(optimizer.name);
  const bool is_sgd = traits.name == "sgd";
  for (const char* name : {"momentum", "nesterov"}) {
    if (!is_sgd && options.is_given(name)) {
      throw UsageError(fmt::format("{} belongs to sgd; the optimizer is {}", options.at(name).where,
                                   traits.name));
    }
  }
  for (const char* name : {"beta1", "beta2", "eps"}) {
    if (is_sgd && options.is_given(name)) {
      throw UsageError(fmt::format("{} belongs to adam and adamw; the optimizer is {}",
                                   options.at(name).where, traits.name));
    }
  }
  optimizer.lr = options.number("lr").value_or(traits.lr);
  optimizer.momentum = options.number("momentum").value_or(traits.momentum);
  if (optimizer.nesterov && optimizer.momentum <= 0) {
    throw UsageError(options.at("nesterov").where +
                     " needs a momentum above 0");  // as torch.optim.SGD
  }
  optimizer.weight_decay = options.number("weight-decay").value_or(traits.weight_decay);
}

// Which data a model can read; gpt without a data set gets the text that is there.
void match_model_and_data(const ResolvedOptions& options, TrainJob& job) {
  const ModelTraits& model = *find_model(job.model);
  DatasetJob& dataset = job.dataset;
  const bool is_text = model.samples == SampleKind::text;
  if (is_text && !options.is_given("dataset")) dataset.name = "text";
  const bool holds_text = find_dataset(dataset.name)->samples == SampleKind::text;
  const bool holds_any =
      dataset.name == "bundle" || dataset.name == "synthetic" || dataset.name == kPython;
  const bool reads_any = job.model == kScriptModel || job.model == kPython;
  if (dataset.name == kPython && !reads_any) {
    throw UsageError("--dataset FILE.py:NAME needs a model of your own, --model FILE.py:NAME");
  }
  if (is_text && !holds_text && !holds_any) {
    throw UsageError(
        "model " + job.model + " reads text; data set " + dataset.name +
        " holds images\n       name a file with --dataset FILE, or --dataset synthetic");
  }
  if (holds_text && !is_text && !reads_any) {
    throw UsageError("model " + job.model + " reads images; data set " + dataset.name +
                     " holds text\n       models for text: gpt");
  }
  if (!is_text && !holds_text) return;
  dataset.context = job.model_options.value("context", kDefaultContext);
  for (const char* name : {"augment", "image-size"}) {
    if (options.is_given(name)) throw UsageError(options.at(name).where + " is for images");
  }
}

void check_target(const ResolvedOptions& options, const TrainJob& job) {
  if (!has_target(job)) return;
  const std::string where =
      options.at(job.target_accuracy ? "target-accuracy" : "target-perplexity").where;
  if (job.eval_every == 0) {
    throw UsageError(where + " needs evaluations on the way; --eval-every is 0");
  }
  if (!job.target_perplexity) return;
  if (job.target_accuracy) {
    throw UsageError(options.at("target-perplexity").where +
                     " and --target-accuracy: a run has one target; leave one out");
  }
  const bool reads_any = job.model == kScriptModel || job.model == kPython;
  if (!reads_any && find_model(job.model)->samples != SampleKind::text) {
    throw UsageError(where + " is for text, and model " + job.model +
                     " reads images\n       models for text: gpt; for images there is "
                     "--target-accuracy");
  }
}

// A number or a truth value where it reads as one.
json python_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = parse_integer(text)) return *whole;
  if (const auto number = parse_number(text)) return *number;
  return text;
}

void take_model(const ResolvedOptions& options, TrainJob& job) {
  job.model = options.text("model");
  if (find_model(job.model) == nullptr) {
    require_function(options, "model");
    job.model_file = job.model;
    job.model = is_python(job.model) ? kPython : kScriptModel;
  }
  if (job.model_file.empty() && (job.model == kScriptModel || job.model == kPython)) {
    throw UsageError(options.at("model").where + ": name the file that holds it, --model FILE" +
                     (job.model == kPython ? ".py:NAME" : ".pt"));
  }
  const ModelTraits& model = *find_model(job.model);
  for (const std::string& pair : options.texts("model-options")) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = pair.substr(0, equals);
    const std::string value = pair.substr(std::min(equals + 1, pair.size()));
    if (name.empty() || value.empty()) {
      throw UsageError(options.at("model-options").where + ": '" + pair + "' is not name=value");
    }
    if (job.model == kPython) {  // what it may be, the function knows
      job.model_options[name] = python_value(value);
      continue;
    }
    if (!has_option(model, name)) {
      throw UsageError(
          options.at("model-options").where + ": model " + job.model + " has no option '" + name +
          "'\n       allowed: " + (model.options.empty() ? "none" : std::string(model.options)));
    }
    const auto size = parse_integer(value);
    const bool is_word = name == "stem";  // the others are sizes
    if (!is_word && size.value_or(0) <= 0) {
      throw UsageError(options.at("model-options").where + ": '" + pair +
                       "' is not a whole number above 0");
    }
    job.model_options[name] = is_word ? json(value) : json(*size);
  }
}

void check_float8(const ResolvedOptions& options, const Float8Job& job) {
  if (job.recipe == "delayed") return;
  for (const char* name : {"fp8-margin", "fp8-history", "fp8-amax"}) {
    if (options.is_given(name)) {
      throw UsageError(options.at(name).where + " belongs to --fp8-recipe delayed");
    }
  }
}

// The search trains nothing, so that there is no result to write, to judge or to go on with.
void refuse_what_a_search_does_not_read(const ResolvedOptions& options) {
  std::vector<std::string> names = {"resume",  "baseline", "fail-on", "save-weights", "dump-trace",
                                    "repeats", "seeds",    "budget",  "shard"};
  for (const std::string& format : export_names()) names.push_back("export-" + std::string(format));
  for (const std::string& name : names) {
    if (options.at(name).source == Source::flag)
      throw UsageError("--" + name + " does not go with --find-max-batch, which trains nothing");
  }
}

// More parts than any comparison has runs are a typing error.
constexpr int64_t kMostShards = 10000;

// "2/8"
void take_shard(const ResolvedOptions& options, Plan& plan) {
  if (!options.has("shard")) return;
  const std::string text = options.text("shard");
  const size_t stroke = std::min(text.find('/'), text.size());
  const auto index = parse_integer(text.substr(0, stroke));
  const auto count = parse_integer(text.substr(std::min(stroke + 1, text.size())));
  if (!index || !count || *count < 1 || *count > kMostShards || *index < 1 || *index > *count) {
    throw UsageError(options.at("shard").where + ": '" + text +
                     "' is not a part like 1/8, counted from 1 to at most " +
                     std::to_string(kMostShards) + " parts");
  }
  plan.shard = {*index, *count};
  if (*count > 1 && plan.own_batches) {
    throw UsageError(
        options.at("shard").where +
        " does not go with --batch-size max: learning rates follow the reference's batch");
  }
  for (const char* name : {"baseline", "fail-on"}) {
    if (*count > 1 && options.is_given(name)) {
      throw UsageError(options.at(name).where +
                       " judges a whole comparison: merge the parts, then use precbench compare");
    }
  }
}

// What one device alone does so far.
void check_devices(const ResolvedOptions& options, const Plan& plan) {
  if (plan.job.devices == 1) {
    if (plan.job.grad_compression == "none") return;
    throw UsageError(options.at("grad-compression").where + " needs --devices 2 or more");
  }
  const std::string& where = options.at("devices").where;
  if (plan.device != "auto" && plan.device != "cpu") {
    throw UsageError(where + ": several devices are several workers on the CPU so far: use " +
                     "--device cpu");
  }
  if (plan.engines.size() > 1 || plan.engines.front() != kLibtorchEngine) {
    throw UsageError(where + " does not go with --engine fabric");
  }
  if (plan.own_batches || plan.find_max_batch) {
    throw UsageError(where + " does not go with a search for the largest batch: look for it on " +
                     "one device, and give it as --batch-size");
  }
}

void take_checkpoints(const ResolvedOptions& options, Plan& plan) {
  if (!options.has("checkpoint-every")) return;
  const std::string& where = options.at("checkpoint-every").where;
  const std::string text = options.text("checkpoint-every");
  const auto steps = parse_integer(text);
  const auto seconds = parse_duration(text);
  if (steps && *steps > 0 && static_cast<double>(*steps) <= kMaxCount) {
    plan.checkpoint_steps = *steps;
  } else if (!steps && seconds) {
    plan.checkpoint_s = *seconds;
  } else {
    throw UsageError(where + ": '" + text + "' is neither a number of steps, such as 500, nor a " +
                     "time, such as 90s");
  }
  const auto refuse = [&](const std::string& what) {
    throw UsageError(where + " does not go with " + what);
  };
  if (!plan.save) refuse("--no-save: checkpoints lie beside the result file");
  if (plan.engines != std::vector<std::string>{std::string(kLibtorchEngine)}) {
    refuse("--engine fabric, which writes none");
  }
  if (!plan.job.dump_trace.empty()) refuse("--dump-trace, whose file would have a gap");
  if (plan.job.cuda_graph) refuse("--cuda-graph");
  if (plan.job.devices > 1) refuse("--devices: several workers write none");
  if (plan.device.starts_with("simulated")) refuse("a simulated device, which computes nothing");
}

void take_control(const ResolvedOptions& options, Plan& plan) {
  take_shard(options, plan);
  const bool has_order = options.has("order");
  if (!has_order && (plan.repeats > 1 || plan.seeds.size() > 1)) plan.order = Order::rotate;
  const std::vector<std::string> modes = options.texts("modes");
  const bool names_modes = options.at("modes").source >= Source::environment && modes[0] != "all" &&
                           modes[0] != "native";
  plan.reference_first = !has_order && !names_modes;
  if (plan.budget_s && plan.pilot_steps == 0) {
    throw UsageError(options.at("budget").where +
                     " needs pilot steps to project from; --pilot is 0");
  }
  plan.save = !options.flag("no-save");
  take_checkpoints(options, plan);
  if (plan.own_batches && plan.find_max_batch) {
    throw UsageError(options.at("batch-size").where + " trains at the largest batches; " +
                     "--find-max-batch only looks for them: use one of them");
  }
  if (plan.lr_scale != LrScale::none && !plan.own_batches) {
    throw UsageError(options.at("lr-scale").where +
                     " scales by a mode's own batch, and needs --batch-size max");
  }
  if (plan.find_max_batch) refuse_what_a_search_does_not_read(options);
  for (const std::string& pair : options.texts("context")) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(options.at("context").where + ": '" + pair + "' is not key=value");
    }
    plan.context[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  parse_gate_rules(plan.gate.fail_on);  // what is wrong with them is told now
  if (plan.gate.baseline.empty() && (!plan.gate.fail_on.empty() || plan.gate.strict)) {
    throw UsageError("--fail-on and --strict-gate need a --baseline FILE to compare with");
  }
}

void take_output(const ResolvedOptions& options, OutputPlan& output) {
  for (const std::string& name : export_names()) {
    const std::string format(name);
    const std::string path = options.text("export-" + format);
    if (!path.empty()) output.exports.push_back({format, path});
  }
  refuse_two_results_on_stdout(output.format, output.exports);
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

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

bool is_file(const DatasetJob& dataset) {
  return !dataset.dir.empty() &&
         (dataset.name == "bundle" || dataset.name == "text" || dataset.name == kPython);
}

std::string plural(int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string title_of(const ResolvedOptions& options, const Plan& plan) {
  const TrainJob& job = plan.job;
  std::string title = options.config_name().empty() ? "" : options.config_name() + ": ";
  title += fmt::format("{}, {}, {}, {} lr {:g}, ", base_name(options.text("model")),
                       is_file(job.dataset) ? base_name(job.dataset.dir) : job.dataset.name,
                       plan.own_batches ? std::string("batch ") + kLargestBatch
                                        : batch_words(job.batch_size, job.devices),
                       job.optimizer.name, job.optimizer.lr);
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
  plan.warnings = options.notes();
  const std::vector<std::string> doings = doings_of_config(options);
  plan.warnings.insert(plan.warnings.end(), doings.begin(), doings.end());
  for (const OptionSpec& option : option_table()) {
    const json& value = options.at(option.name).value;
    if (option.set && !value.is_null()) option.set(plan, value);
  }
  take_engines(options, plan);
  choose_modes(options, plan);
  take_seeds(options, plan);
  take_dataset_name(options, plan.job.dataset);
  if (plan.job.dataset.synthetic_shape.size() != 3) {
    throw UsageError(options.at("synthetic-shape").where + ": must be channels,height,width");
  }
  take_optimizer(options, plan.job.optimizer);
  take_model(options, plan.job);
  match_model_and_data(options, plan.job);
  check_target(options, plan.job);
  check_float8(options, plan.job.fp8);
  take_control(options, plan);
  take_output(options, plan.output);
  check_device(options, plan.device);
  check_devices(options, plan);
  if (!options.has("threads")) plan.threads = usable_cores();
  const bool is_one_run = plan.modes.size() == 1 && plan.engines.size() == 1 &&
                          plan.seeds.size() == 1 && plan.repeats == 1;
  for (const char* name : {"save-weights", "dump-trace"}) {
    if (options.text(name) == "-") {
      throw UsageError(options.at(name).where + ": standard output has the result; name a file");
    }
    if (options.has(name) && !is_one_run && !names_folder(options.text(name))) {
      throw UsageError(
          options.at(name).where +
          " writes one file: name one mode, one seed and one repeat\n       or a folder, "
          "for a file of each run: " +
          options.text(name) + "/");
    }
  }
  plan.title = title_of(options, plan);
  plan.config = options.as_json();
  return plan;
}

}  // namespace precbench
