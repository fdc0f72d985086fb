#include "bench/plan/options.h"

#include <algorithm>

#include "common/names.h"
#include "common/suggest.h"

namespace precbench {
namespace {

constexpr double kMaxCount =
    1e9;  // samples, steps, epochs: nothing real is larger, and sums stay exact

template <typename Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

std::vector<OptionSpec> what_options() {
  return {
      {"modes", OptionType::list, "16-mixed,bf16-mixed,32-true", "what",
       "precision modes to compare, in this order; all; native", true},
      {"seed",
       OptionType::integer,
       "42",
       "what",
       "seed of weights and data order",
       true,
       {},
       0,
       4294967295.0},
      {"seeds",
       OptionType::integers,
       "",
       "what",
       "several seeds: the noise of accuracy",
       true,
       {},
       0,
       4294967295.0},
      {"repeats",
       OptionType::integer,
       "1",
       "what",
       "runs of each mode and seed: the noise of time",
       true,
       {},
       1,
       1000},
      {"config", OptionType::text, "", "what", "a workload: a file, or a name of `list configs`",
       true},
      {"model", OptionType::choice, "cnn", "what", "what to train", true, names_of(kModels)},
      {"dataset", OptionType::choice, "fashion-mnist", "what", "what to train on", true,
       names_of(kDatasets)},
      {"data-dir", OptionType::text, "", "what", "folder of the data set's files"},
      {"limit-train",
       OptionType::integer,
       "0",
       "what",
       "use the first N training samples; 0 = all",
       false,
       {},
       0,
       kMaxCount},
      {"limit-test",
       OptionType::integer,
       "0",
       "what",
       "use the first N test samples; 0 = all",
       false,
       {},
       0,
       kMaxCount},
      {"epochs",
       OptionType::integer,
       "1",
       "what",
       "passes over the training data",
       true,
       {},
       1,
       kMaxCount},
      {"steps",
       OptionType::integer,
       "0",
       "what",
       "optimizer steps in all; 0 = whole epochs",
       false,
       {},
       0,
       kMaxCount},
      {"batch-size",
       OptionType::integer,
       "128",
       "what",
       "samples per batch, in training and evaluation",
       true,
       {},
       1,
       kMaxCount},
      {"image-size",
       OptionType::integer,
       "0",
       "what",
       "resize images to N pixels; 0 = as in the files",
       false,
       {},
       0,
       4096,
       false},
      {"augment",
       OptionType::flag,
       "false",
       "what",
       "random crop and flip",
       false,
       {},
       0,
       0,
       false},
      {"synthetic-shape",
       OptionType::integers,
       "1,28,28",
       "what",
       "channels,height,width of --dataset synthetic",
       false,
       {},
       1,
       65536},
      {"synthetic-classes",
       OptionType::integer,
       "10",
       "what",
       "classes of --dataset synthetic",
       false,
       {},
       2,
       256},
      {"synthetic-train",
       OptionType::integer,
       "10000",
       "what",
       "training samples of --dataset synthetic",
       false,
       {},
       1,
       kMaxCount},
      {"synthetic-test",
       OptionType::integer,
       "2000",
       "what",
       "test samples of --dataset synthetic",
       false,
       {},
       1,
       kMaxCount},
  };
}

std::vector<OptionSpec> training_options() {
  return {
      {"optimizer", OptionType::choice, "sgd", "training", "optimizer", false,
       names_of(kOptimizers)},
      {"lr",
       OptionType::number,
       "",
       "training",
       "learning rate (default: the optimizer's; sgd 0.05, adam and adamw 0.001)",
       false,
       {},
       0,
       1e6},
      {"momentum", OptionType::number, "", "training", "of sgd (default 0.9)", false, {}, 0, 1},
      {"nesterov", OptionType::flag, "false", "training", "Nesterov momentum (sgd)"},
      {"weight-decay",
       OptionType::number,
       "",
       "training",
       "weight decay (default: 0; adamw 0.01)",
       false,
       {},
       0,
       1e6},
      {"schedule",
       OptionType::choice,
       "constant",
       "training",
       "learning rate over the run",
       false,
       {"constant", "cosine", "step"}},
      {"warmup-steps",
       OptionType::integer,
       "0",
       "training",
       "steps of linear warm-up",
       false,
       {},
       0,
       kMaxCount},
      {"schedule-on-skip",
       OptionType::choice,
       "follow",
       "training",
       "does a step that the scaler skips advance the schedule",
       false,
       {"follow", "hold"}},
      {"label-smoothing",
       OptionType::number,
       "0",
       "training",
       "of the cross entropy",
       false,
       {},
       0,
       1},
      {"accumulate",
       OptionType::integer,
       "1",
       "training",
       "batches per optimizer step",
       false,
       {},
       1,
       100000},
      {"clip-norm",
       OptionType::number,
       "",
       "training",
       "clip the gradients' total norm",
       false,
       {},
       1e-30,
       1e30},
      {"clip-value",
       OptionType::number,
       "",
       "training",
       "clip each gradient element",
       false,
       {},
       1e-30,
       1e30},
      {"loss-autocast", OptionType::flag, "false", "training",
       "loss inside the autocast region, the other form of Fabric's guide"},
      {"init",
       OptionType::choice,
       "fp32",
       "training",
       "draw the weights in fp32 and cast, or in the mode's dtype",
       false,
       {"fp32", "module"}},
      {"init-weights", OptionType::text, "", "training", "start from this state dictionary"},
      {"save-weights", OptionType::text, "", "training",
       "write the trained weights; one mode and seed only"},
      {"eval-every",
       OptionType::integer,
       "1",
       "training",
       "epochs between evaluations; 0 = after the last only",
       false,
       {},
       0,
       kMaxCount},
      {"dump-trace", OptionType::text, "", "training",
       "write loss, gradient norm and scale of every step; one mode and seed only"},
  };
}

std::vector<OptionSpec> how_options() {
  return {
      {"device", OptionType::text, "auto", "how", "auto | cpu | cuda | cuda:N", true},
      {"threads",
       OptionType::integer,
       "",
       "how",
       "CPU threads (default: physical cores that we may use)",
       false,
       {},
       1,
       4096},
      {"profile",
       OptionType::choice,
       "fabric",
       "how",
       "fabric: as in your own training; tuned: as fast as each mode can be here",
       true,
       {"fabric", "tuned"}},
      {"tf32",
       OptionType::choice,
       "default",
       "how",
       "TF32 in 32-true (default: as PyTorch)",
       false,
       {"default", "off", "on"}},
      {"cpu-fp16",
       OptionType::choice,
       "real",
       "how",
       "16-mixed on a CPU: real fp16, or bf16-mixed as Lightning would",
       false,
       {"real", "fabric"}},
      {"deterministic",
       OptionType::choice,
       "auto",
       "how",
       "deterministic algorithms (auto = as Fabric: off)",
       false,
       {"auto", "on", "off"}},
      {"optimizer-impl",
       OptionType::choice,
       "auto",
       "how",
       "auto = Python's default (loop on CPU, foreach on CUDA)",
       false,
       {"auto", "loop", "foreach", "fused"}},
      {"memory-format",
       OptionType::choice,
       "auto",
       "how",
       "layout of images and convolution weights",
       false,
       {"auto", "contiguous", "channels_last"}},
      {"gemm",
       OptionType::choice,
       "default",
       "how",
       "fp32 matrix product on a CPU",
       false,
       {"auto", "default", "onednn"}},
      {"fp8-recipe",
       OptionType::choice,
       "delayed",
       "how",
       "scaling of transformer-engine",
       false,
       {"delayed", "dynamic"},
       0,
       0,
       false},
      {"cuda-graph",
       OptionType::flag,
       "false",
       "how",
       "capture a whole step (CUDA)",
       false,
       {},
       0,
       0,
       false},
      {"cudnn-benchmark",
       OptionType::flag,
       "false",
       "how",
       "let cuDNN time its algorithms (CUDA)",
       false,
       {},
       0,
       0,
       false},
  };
}

std::vector<OptionSpec> control_options() {
  return {
      {"reference", OptionType::text, "", "control",
       "mode that others are compared with (default 32-true, else the first)"},
      {"order",
       OptionType::choice,
       "",
       "control",
       "order of the runs (default given; rotate with repeats or seeds)",
       false,
       {"given", "rotate", "random"}},
      {"timeout", OptionType::duration, "", "control", "end a run that takes longer"},
      {"pilot",
       OptionType::integer,
       "3",
       "control",
       "steps of each mode to try first; 0 = none",
       false,
       {},
       0,
       1000},
      {"budget", OptionType::duration, "", "control",
       "skip modes that are projected to take longer", true},
      {"emulated",
       OptionType::choice,
       "run",
       "control",
       "run or skip modes that this device only emulates",
       false,
       {"run", "skip"}},
      {"memory-limit", OptionType::size, "", "control",
       "let a run that allocates more end as out of memory (CPU)"},
      {"resume", OptionType::text, "", "control",
       "go on with an interrupted comparison's result file"},
      {"keep-going", OptionType::flag, "false", "control", "train on after a run has diverged"},
      {"results-dir", OptionType::text, "results", "control", "folder for result files", true},
      {"no-save", OptionType::flag, "false", "control", "do not write a result file"},
      {"baseline", OptionType::text, "", "control", "result file to compare with"},
      {"fail-on", OptionType::repeatable, "", "control",
       "gate rule: time:5%, memory:2%, test_accuracy:0.5pp, time[16-mixed]:10%"},
      {"strict-gate", OptionType::flag, "false", "control", "exit 6 when the gate cannot decide"},
      {"dry-run", OptionType::flag, "false", "control", "print what would run, and stop"},
      {"context", OptionType::repeatable, "", "control", "key=value, kept in the result file"},
      {"inject-inf-at-step",
       OptionType::integer,
       "-1",
       "control",
       "put an infinity into the gradients of this step",
       false,
       {},
       -1,
       kMaxCount,
       true,
       true},
  };
}

std::vector<OptionSpec> output_options() {
  return {
      {"format",
       OptionType::choice,
       "text",
       "output",
       "what to print on standard output",
       true,
       {"text", "report", "table", "markdown", "csv", "json", "none"}},
      {"export-json", OptionType::text, "", "output", "write the result to a file as well"},
      {"export-csv", OptionType::text, "", "output", "write CSV to a file as well"},
      {"export-markdown", OptionType::text, "", "output", "write Markdown to a file as well"},
      {"export-html", OptionType::text, "", "output", "write an HTML page as well"},
      {"export-junit", OptionType::text, "", "output", "write JUnit XML as well"},
      {"export-github", OptionType::text, "", "output", "write a GitHub job summary as well"},
      {"color",
       OptionType::choice,
       "auto",
       "output",
       "colours",
       false,
       {"auto", "always", "never"}},
      {"progress",
       OptionType::choice,
       "auto",
       "output",
       "progress on standard error",
       false,
       {"auto", "plain", "none"}},
      {"quiet",
       OptionType::flag,
       "false",
       "output",
       "no progress, no notes",
       false,
       {},
       0,
       0,
       true,
       false,
       "q"},
      {"verbose",
       OptionType::flag,
       "false",
       "output",
       "also what the worker says",
       false,
       {},
       0,
       0,
       true,
       false,
       "v"},
  };
}

std::vector<OptionSpec> make_table() {
  std::vector<OptionSpec> table;
  for (auto* group :
       {&what_options, &training_options, &how_options, &control_options, &output_options}) {
    for (OptionSpec& option : (*group)()) table.push_back(std::move(option));
  }
  return table;
}

std::string with_underscores(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace

const std::vector<OptionSpec>& option_table() {
  static const std::vector<OptionSpec> table = make_table();
  return table;
}

const OptionSpec* find_option(std::string_view name) {
  for (const OptionSpec& option : option_table()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string config_key(const OptionSpec& option) { return with_underscores(option.name); }

std::string environment_variable(const OptionSpec& option) {
  std::string name = "PRECBENCH_" + with_underscores(option.name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::string value_hint(const OptionSpec& option) {
  switch (option.type) {
    case OptionType::flag:
      return "";
    case OptionType::choice:
      return joined(option.allowed, "|");
    case OptionType::list:
      return "MODE,...";
    case OptionType::integers:
      return "N,...";
    case OptionType::integer:
      return "N";
    case OptionType::number:
      return "X";
    case OptionType::duration:
      return "90s|5m|1h";
    case OptionType::size:
      return "500MiB|2GiB";
    case OptionType::repeatable:
      return option.name == "context" ? "KEY=VALUE" : "RULE";
    case OptionType::text:
      break;
  }
  const bool is_file = option.group == "output" || option.name == "resume" ||
                       option.name == "baseline" || option.name == "dump-trace" ||
                       option.name.find("weights") != std::string::npos;
  if (is_file) return "FILE";
  if (option.name.find("-dir") != std::string::npos) return "DIR";
  if (option.name == "config") return "FILE|NAME";
  return option.name == "device" ? "DEVICE" : "MODE";
}

}  // namespace precbench
