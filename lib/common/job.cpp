#include "common/job.h"

#include <limits>

namespace precbench {
namespace {

// Visits every member of a job's structs with its JSON key, so that writing and reading cannot
// disagree.
template <typename Visit>
void visit_dataset(DatasetJob& job, Visit&& visit) {
  visit("name", job.name);
  visit("dir", job.dir);
  visit("limit_train", job.limit_train);
  visit("limit_test", job.limit_test);
  visit("image_size", job.image_size);
  visit("synthetic_shape", job.synthetic_shape);
  visit("synthetic_classes", job.synthetic_classes);
  visit("synthetic_train", job.synthetic_train);
  visit("synthetic_test", job.synthetic_test);
  visit("augment", job.augment);
  visit("context", job.context);
}

template <typename Visit>
void visit_optimizer(OptimizerJob& job, Visit&& visit) {
  visit("name", job.name);
  visit("impl", job.impl);
  visit("lr", job.lr);
  visit("momentum", job.momentum);
  visit("nesterov", job.nesterov);
  visit("weight_decay", job.weight_decay);
  visit("beta1", job.beta1);
  visit("beta2", job.beta2);
  visit("eps", job.eps);
  visit("clip_norm", job.clip_norm);
  visit("clip_value", job.clip_value);
  visit("accumulate", job.accumulate);
}

template <typename Visit>
void visit_schedule(ScheduleJob& job, Visit&& visit) {
  visit("name", job.name);
  visit("warmup_steps", job.warmup_steps);
  visit("on_skip", job.on_skip);
}

template <typename Visit>
void visit_float8(Float8Job& job, Visit&& visit) {
  visit("recipe", job.recipe);
  visit("margin", job.margin);
  visit("history", job.history);
  visit("amax", job.amax);
}

template <typename Visit>
void visit_train(TrainJob& job, Visit&& visit) {
  visit("mode", job.mode);
  visit("seed", job.seed);
  visit("model", job.model);
  visit("model_file", job.model_file);
  visit("model_options", job.model_options);
  visit("dataset", job.dataset);
  visit("batch_size", job.batch_size);
  visit("epochs", job.epochs);
  visit("steps", job.steps);
  visit("eval_every", job.eval_every);
  visit("optimizer", job.optimizer);
  visit("schedule", job.schedule);
  visit("label_smoothing", job.label_smoothing);
  visit("init", job.init);
  visit("init_weights", job.init_weights);
  visit("save_weights", job.save_weights);
  visit("dump_trace", job.dump_trace);
  visit("dump_trace_weights_every", job.dump_trace_weights_every);
  visit("loss_autocast", job.loss_autocast);
  visit("memory_format", job.memory_format);
  visit("tf32", job.tf32);
  visit("cpu_fp16", job.cpu_fp16);
  visit("deterministic", job.deterministic);
  visit("gemm", job.gemm);
  visit("attention", job.attention);
  visit("fp8", job.fp8);
  visit("tuned_malloc", job.tuned_malloc);
  visit("cuda_graph", job.cuda_graph);
  visit("cudnn_benchmark", job.cudnn_benchmark);
  visit("keep_going", job.keep_going);
  visit("memory_limit_bytes", job.memory_limit_bytes);
  visit("pilot", job.pilot);
  visit("pilot_limit_s", job.pilot_limit_s);
  visit("inject_inf_at_step", job.inject_inf_at_step);
}

struct Writer {
  json& document;

  template <typename T>
  void operator()(const char* key, const T& value) {
    document[key] = value;
  }
  void operator()(const char* key, const std::optional<double>& value) {
    document[key] = nullable(value);
  }
  void operator()(const char* key, DatasetJob& value) {
    visit_dataset(value, Writer{document[key]});
  }
  void operator()(const char* key, OptimizerJob& value) {
    visit_optimizer(value, Writer{document[key]});
  }
  void operator()(const char* key, ScheduleJob& value) {
    visit_schedule(value, Writer{document[key]});
  }
  void operator()(const char* key, Float8Job& value) { visit_float8(value, Writer{document[key]}); }
};

// Members that are absent keep their default, so that a hand-written job may be short.
struct Reader {
  const ObjectReader& reader;

  template <typename T>
  void operator()(const char* key, T& value) {
    value = reader.value_or<T>(key, value);
  }
  void operator()(const char* key, std::optional<double>& value) {
    value = reader.optional<double>(key);
  }
  void operator()(const char* key, uint32_t& value) {
    const auto number = reader.value_or<int64_t>(key, value);
    if (number < 0 || number > std::numeric_limits<uint32_t>::max()) {
      reader.fail(key, "must be between 0 and 4294967295");
    }
    value = static_cast<uint32_t>(number);
  }
  void operator()(const char* key, json& value) {
    if (const auto member = reader.optional_object(key)) value = member->raw();
  }
  void operator()(const char* key, DatasetJob& value) {
    if (const auto member = reader.optional_object(key)) visit_dataset(value, Reader{*member});
  }
  void operator()(const char* key, OptimizerJob& value) {
    if (const auto member = reader.optional_object(key)) visit_optimizer(value, Reader{*member});
  }
  void operator()(const char* key, ScheduleJob& value) {
    if (const auto member = reader.optional_object(key)) visit_schedule(value, Reader{*member});
  }
  void operator()(const char* key, Float8Job& value) {
    if (const auto member = reader.optional_object(key)) visit_float8(value, Reader{*member});
  }
};

bool has_training(JobKind kind) {
  return kind == JobKind::train || kind == JobKind::predict || kind == JobKind::attention;
}

}  // namespace

std::string_view name_of(JobKind kind) {
  switch (kind) {
    case JobKind::describe:
      return "describe";
    case JobKind::probe:
      return "probe";
    case JobKind::gemm:
      return "gemm";
    case JobKind::attention:
      return "attention";
    case JobKind::train:
      return "train";
    case JobKind::predict:
      return "predict";
  }
  return "unknown";
}

json recipe_json(const Float8Job& job) {
  if (job.recipe != "delayed") return {{"recipe", job.recipe}};
  return {
      {"recipe", job.recipe}, {"margin", job.margin}, {"history", job.history}, {"amax", job.amax}};
}

json to_json(const Job& job) {
  json document = {{"kind", name_of(job.kind)},
                   {"device", job.device},
                   {"threads", job.threads},
                   {"parent_pid", job.parent_pid}};
  if (job.kind == JobKind::predict) {
    document["predict"] = {{"gpus", job.predict.gpus},
                           {"modes", job.predict.modes},
                           {"find_max_batch", job.predict.find_max_batch}};
  }
  if (has_training(job.kind)) {
    TrainJob train = job.train;  // the visitor takes it by reference
    visit_train(train, Writer{document["train"]});
  }
  return document;
}

Job job_from_json(const json& document) {
  const ObjectReader reader(document, "");
  Job job;
  const auto kind = reader.required<std::string>("kind");
  bool known = false;
  for (const JobKind candidate : {JobKind::describe, JobKind::probe, JobKind::gemm,
                                  JobKind::attention, JobKind::train, JobKind::predict}) {
    if (name_of(candidate) == kind) {
      job.kind = candidate;
      known = true;
    }
  }
  if (!known)
    reader.fail("kind", "'" + kind + "' is not describe, probe, gemm, attention, train or predict");
  job.device = reader.value_or<std::string>("device", job.device);
  job.threads = reader.value_or<int64_t>("threads", job.threads);
  if (job.threads < 1) reader.fail("threads", "must be at least 1");
  job.parent_pid = reader.value_or<int64_t>("parent_pid", 0);
  if (job.kind == JobKind::predict) {
    const ObjectReader predict = reader.object("predict");
    job.predict.gpus = predict.required<std::vector<std::string>>("gpus");
    job.predict.modes = predict.required<std::vector<std::string>>("modes");
    job.predict.find_max_batch = predict.value_or("find_max_batch", false);
  }
  if (has_training(job.kind)) {
    const ObjectReader train = reader.object("train");
    visit_train(job.train, Reader{train});
    if (job.train.batch_size < 1) train.fail("batch_size", "must be at least 1");
  }
  return job;
}

}  // namespace precbench
