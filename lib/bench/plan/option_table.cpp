// One row per option, in the order of the help.
#include <algorithm>

#include "bench/plan/options.h"
#include "bench/report/export.h"
#include "bench/report/formats.h"
#include "common/names.h"

namespace precbench {
namespace {

constexpr double kMaxCount = 1e9;          // samples, steps, epochs: nothing real is larger
constexpr double kMaxSeed = 4294967295.0;  // as lightning.seed_everything
// PyTorch takes any positive bound; a finite range keeps fp32's overflow out.
constexpr double kLeastClip = 1e-30, kMostClip = 1e30;

// Collects rows; what a constructor does not take is set on the row it returns.
class Table {
 public:
  void begin(const char* group) { group_ = group; }

  OptionSpec& add(const char* name, OptionType type, const char* hint, const char* default_text,
                  const char* help) {
    OptionSpec& row = rows_.emplace_back();
    row.name = name;
    row.type = type;
    row.hint = hint;
    row.default_text = default_text;
    row.group = group_;
    row.help = help;
    return row;
  }
  OptionSpec& flag(const char* name, const char* help) {
    return add(name, OptionType::flag, "", "false", help);
  }
  OptionSpec& text(const char* name, const char* hint, const char* default_text, const char* help) {
    return add(name, OptionType::text, hint, default_text, help);
  }
  OptionSpec& integer(const char* name, double low, double high, const char* default_text,
                      const char* help) {
    return limited(add(name, OptionType::integer, "N", default_text, help), low, high);
  }
  OptionSpec& integers(const char* name, const char* hint, double low, double high,
                       const char* default_text, const char* help) {
    return limited(add(name, OptionType::integers, hint, default_text, help), low, high);
  }
  OptionSpec& number(const char* name, double low, double high, const char* default_text,
                     const char* help) {
    return limited(add(name, OptionType::number, "X", default_text, help), low, high);
  }
  OptionSpec& duration(const char* name, const char* help) {
    return add(name, OptionType::duration, "90s|5m|1h", "", help);
  }
  // The default is the first of `allowed`.
  OptionSpec& choice(const char* name, std::vector<std::string> allowed, const char* help) {
    OptionSpec& row = add(name, OptionType::choice, "", "", help);
    row.default_text = allowed.front();
    for (const std::string& word : allowed) row.hint += (row.hint.empty() ? "" : "|") + word;
    row.allowed = std::move(allowed);
    return row;
  }

  std::vector<OptionSpec> take() { return std::move(rows_); }

 private:
  static OptionSpec& limited(OptionSpec& row, double low, double high) {
    row.low = low;
    row.high = high;
    return row;
  }

  std::vector<OptionSpec> rows_;
  const char* group_ = "";
};

template <typename Rows>
std::vector<std::string> names_of(const Rows& rows, std::string_view first) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == first; });
  return names;
}

void add_choice_or_file(Table& table, const char* name, std::vector<std::string> words,
                        const char* help) {
  OptionSpec& row = table.choice(name, std::move(words), help);
  row.takes_file = true;
  row.is_basic = true;
}

void add_what(Table& table) {
  table.begin("what");
  table
      .add("modes", OptionType::list, "MODE,...", "16-mixed,bf16-mixed,32-true",
           "precision modes to compare, in this order; all; native")
      .is_basic = true;
  table.integer("seed", 0, kMaxSeed, "42", "seed of weights and data order").is_basic = true;
  table.integers("seeds", "N,...", 0, kMaxSeed, "", "several seeds: the noise of accuracy")
      .is_basic = true;
  table.integer("repeats", 1, 1000, "1", "runs of each mode and seed: the noise of time").is_basic =
      true;
  table.text("config", "FILE|NAME", "", "a workload: a file, or a name of `list configs`")
      .is_basic = true;
  add_choice_or_file(table, "model", names_of(kModels, "cnn"), "what to train; FILE.pt: your own");
  table.add("model-options", OptionType::list, "NAME=N,...", "",
            "sizes of the model, as layers=4,width=128; `list models` has their names");
  add_choice_or_file(table, "dataset", names_of(kDatasets, "fashion-mnist"),
                     "what to train on; FILE.pt: tensors; another FILE: text for gpt");
  table.text("data-dir", "DIR", "", "folder of the data set's files, or its archive");
  table.integer("limit-train", 0, kMaxCount, "0", "use the first N training samples; 0 = all");
  table.integer("limit-test", 0, kMaxCount, "0", "use the first N test samples; 0 = all");
  table.integer("epochs", 1, kMaxCount, "1", "passes over the training data").is_basic = true;
  table.integer("steps", 0, kMaxCount, "0", "optimizer steps in all; 0 = whole epochs");
  table.integer("batch-size", 1, kMaxCount, "128", "samples per batch, in training and evaluation")
      .is_basic = true;
  table.integer("image-size", 0, 4096, "0", "resize images to N pixels; 0 = as in the files");
  table.flag("augment", "random crop and flip of the training images");
  table.integers("synthetic-shape", "C,H,W", 1, 65536, "1,28,28",
                 "channels,height,width of --dataset synthetic");
  table.integer("synthetic-classes", 2, 100000, "10", "classes of --dataset synthetic");
  table.integer("synthetic-train", 1, kMaxCount, "10000",
                "training samples of --dataset synthetic");
  table.integer("synthetic-test", 1, kMaxCount, "2000", "test samples of --dataset synthetic");
}

void add_training(Table& table) {
  table.begin("training");
  table.choice("optimizer", names_of(kOptimizers, "sgd"), "optimizer");
  table.number("lr", 0, 1e6, "",
               "learning rate (default: the optimizer's; sgd 0.05, adam and adamw 0.001)");
  table.number("momentum", 0, 1, "", "of sgd (default 0.9)");
  table.flag("nesterov", "Nesterov momentum (sgd)");
  table.number("weight-decay", 0, 1e6, "", "weight decay (default: 0; adamw 0.01)");
  table.choice("schedule", {"constant", "cosine", "step"}, "learning rate over the run");
  table.integer("warmup-steps", 0, kMaxCount, "0", "steps of linear warm-up");
  table.choice("schedule-on-skip", {"follow", "hold"},
               "does a step that the scaler skips advance the schedule");
  table.number("label-smoothing", 0, 1, "0", "of the cross entropy");
  table.integer("accumulate", 1, 100000, "1", "batches per optimizer step");
  table.number("clip-norm", kLeastClip, kMostClip, "", "clip the gradients' total norm");
  table.number("clip-value", kLeastClip, kMostClip, "", "clip each gradient element");
  table.flag("loss-autocast", "loss inside the autocast region, the other form of Fabric's guide");
  table.choice("init", {"fp32", "module"},
               "draw the weights in fp32 and cast, or in the mode's dtype");
  table.text("init-weights", "FILE", "", "start from this state dictionary");
  table.text("save-weights", "FILE", "", "write the trained weights; one mode and seed only");
  table.integer("eval-every", 0, kMaxCount, "1",
                "epochs between evaluations; 0 = after the last only");
  table.text("dump-trace", "FILE", "",
             "write loss, gradient norm and scale of every step; one mode and seed only");
  table.integer("dump-trace-weights-every", 0, kMaxCount, "0",
                "steps between the trace's checksums of the weights; 0 = none");
}

void add_how(Table& table) {
  table.begin("how");
  table.text("device", "DEVICE", "auto", "auto | cpu | cuda | cuda:N").is_basic = true;
  table.integer("threads", 1, 4096, "", "CPU threads (default: physical cores that we may use)");
  table
      .choice("profile", {"fabric", "tuned"},
              "fabric: as in your own training; tuned: as fast as each mode can be here")
      .is_basic = true;
  table.choice("tf32", {"default", "off", "on"}, "TF32 in 32-true (default: as PyTorch)");
  table.choice("cpu-fp16", {"real", "fabric"},
               "16-mixed on a CPU: real fp16, or bf16-mixed as Lightning would");
  table.choice("deterministic", {"auto", "on", "off"},
               "deterministic algorithms (auto = as Fabric: off)");
  table.choice("optimizer-impl", {"auto", "loop", "foreach", "fused"},
               "auto = Python's default (loop on CPU, foreach on CUDA); tuned: fused");
  table.choice(
      "memory-format", {"auto", "contiguous", "channels_last"},
      "layout of images and convolution weights (auto = contiguous; tuned: channels_last)");
  table.choice("gemm", {"auto", "default", "onednn"},
               "fp32 matrix product on a CPU (auto = default; tuned: the faster one)");
  table.choice("attention", {"auto", "default", "math"},
               "attention by PyTorch's kernel or by separate products (auto = default; tuned on a "
               "CPU: the faster)");
  table.choice("fp8-recipe", {"delayed", "dynamic"},
               "scaling in transformer-engine: by past tensors, as Fabric, or by each one");
  table.integer("fp8-margin", 0, 32, "0", "delayed: divide scales by 2^N");
  table.integer("fp8-history", 1, 1 << 20, "1024", "delayed: passes that a maximum is kept for");
  table.choice("fp8-amax", {"max", "most_recent"}, "delayed: which maximum of the history");
  table.flag("cuda-graph", "record a whole step as a CUDA graph and replay it; auto = fused then");
  table.flag("cudnn-benchmark", "let cuDNN time its algorithms (CUDA)");
}

void add_control(Table& table) {
  table.begin("control");
  table.text("reference", "MODE", "",
             "mode that others are compared with (default 32-true, else the first)");
  table
      .choice("order", {"given", "rotate", "random"},
              "order of the runs (default given; rotate with repeats or seeds)")
      .default_text = "";
  table.duration("timeout", "end a run that takes longer");
  table.integer("pilot", 0, 1000, "3", "steps of each mode to try first; 0 = none");
  table.duration("budget", "skip modes that are projected to take longer").is_basic = true;
  table.choice("emulated", {"run", "skip"}, "run or skip modes that this device only emulates");
  table.add("memory-limit", OptionType::size, "500MiB|2GiB", "",
            "let a run that needs more end as out of memory; the data set is not counted");
  table.flag("find-max-batch",
             "instead of training, find the largest batch size that fits, per mode");
  table.text("resume", "FILE", "", "go on with an interrupted comparison's result file");
  table.flag("keep-going", "train on after a run has diverged");
  table.text("results-dir", "DIR", "results", "folder for result files").is_basic = true;
  table.flag("no-save", "do not write a result file");
  table.text("baseline", "FILE", "", "result file to compare with");
  table.add("fail-on", OptionType::repeatable, "RULE", "",
            "gate rule: time:5%, memory:2%, test_accuracy:0.5pp, time[16-mixed]:10%");
  table.flag("strict-gate", "exit 6 when the gate cannot decide");
  table.flag("dry-run", "print what would run, and stop");
  table.add("context", OptionType::repeatable, "KEY=VALUE", "",
            "key=value, kept in the result file");
  table
      .integer("inject-inf-at-step", -1, kMaxCount, "-1",
               "put an infinity into the gradients of this step")
      .is_hidden = true;
}

void add_output(Table& table) {
  table.begin("output");
  table.choice("format", format_names(), "what to print on standard output").is_basic = true;
  for (const std::string& format : export_names()) {
    const std::string name = "export-" + std::string(format);
    const std::string help = "write the result as " + std::string(format) + " into a file as well";
    table.text(name.c_str(), "FILE", "", help.c_str());
  }
  table.choice("color", {"auto", "always", "never"}, "colours");
  table.choice("progress", {"auto", "plain", "none"}, "progress on standard error");
  table.flag("quiet", "no progress, no notes").short_name = "q";
  table.flag("verbose", "also what the worker says").short_name = "v";
}

std::vector<OptionSpec> make_table() {
  Table table;
  add_what(table);
  add_training(table);
  add_how(table);
  add_control(table);
  add_output(table);
  return table.take();
}

}  // namespace

const std::vector<OptionSpec>& option_table() {
  static const std::vector<OptionSpec> table = make_table();
  return table;
}

}  // namespace precbench
