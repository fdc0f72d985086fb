#include "bench/plan/protocol.h"

#include "bench/files/sha256.h"
#include "bench/plan/resolve_device.h"
#include "bench/result/protocol_hash.h"

namespace precbench {
namespace {

// What the reference mode uses; where `auto` differs between modes each row's recipe tells.
std::string optimizer_impl(const Plan& plan, bool is_cuda) {
  return job_for(plan, *plan.reference, plan.seeds.front(), is_cuda).optimizer.impl;
}

// "math" where it was asked for, else {format: "math"} of those in which it was found to be faster;
// the modes that a comparison asks for have no part in it.
json attention_json(const Plan& plan) {
  if (plan.attention != "auto") return plan.attention;
  json object = json::object();
  for (const auto& [format, times] : plan.attention_times) {
    const std::string chosen = attention_for(plan, format);
    if (chosen != "default") object[std::string(name_of(format))] = chosen;
  }
  return object;
}

}  // namespace

json protocol_json(const Plan& plan, const std::optional<std::string>& data_sha256, bool is_cuda,
                   const std::optional<data::DatasetSummary>& data) {
  const TrainJob& job = plan.job;
  const OptimizerJob& optimizer = job.optimizer;
  json protocol = {{"profile", plan.profile},
                   {"semantics", kSemanticsVersion},
                   {"model", job.model},
                   {"dataset", job.dataset.name},
                   {"data_sha256", nullable(data_sha256)},
                   {"limit_train", job.dataset.limit_train},
                   {"limit_test", job.dataset.limit_test},
                   {"image_size", job.dataset.image_size},
                   {"batch_size", job.batch_size},
                   {"epochs", job.epochs},
                   {"steps", job.steps},
                   {"eval_every", job.eval_every},
                   {"optimizer", optimizer.name},
                   {"optimizer_impl", optimizer_impl(plan, is_cuda)},
                   {"lr", optimizer.lr},
                   {"momentum", optimizer.momentum},
                   {"nesterov", optimizer.nesterov},
                   {"weight_decay", optimizer.weight_decay},
                   {"betas", {optimizer.beta1, optimizer.beta2}},
                   {"eps", optimizer.eps},
                   {"schedule", job.schedule.name},
                   {"warmup_steps", job.schedule.warmup_steps},
                   {"schedule_on_skip", job.schedule.on_skip},
                   {"label_smoothing", job.label_smoothing},
                   {"clip_norm", nullable(optimizer.clip_norm)},
                   {"clip_value", nullable(optimizer.clip_value)},
                   {"accumulate", optimizer.accumulate},
                   {"init", job.init},
                   {"loss_autocast", job.loss_autocast},
                   {"gemm", job.gemm},
                   {"tf32", job.tf32},
                   {"deterministic", job.deterministic},
                   {"cpu_fp16", job.cpu_fp16},
                   {"memory_format", job.memory_format}};
  json unknown = json::object();
  if (!data_sha256) unknown["data_sha256"] = "synthetic data are generated from the seed";
  if (!optimizer.clip_norm) unknown["clip_norm"] = "no clipping by norm";
  if (!optimizer.clip_value) unknown["clip_value"] = "no clipping by value";
  if (job.dataset.name == "synthetic") {
    protocol["synthetic"] = {{"shape", job.dataset.synthetic_shape},
                             {"classes", job.dataset.synthetic_classes},
                             {"train", job.dataset.synthetic_train},
                             {"test", job.dataset.synthetic_test}};
  }
  if (data) {
    for (const auto& [key, size] :
         {std::pair{"train_samples", data->train_samples},
          std::pair{"test_samples", data->test_samples}, std::pair{"classes", data->classes}}) {
      protocol[key] = size > 0 ? json(size) : json(nullptr);
      if (size == 0) unknown[key] = "the worker alone can read a file of tensors";
    }
  }
  // Members that most protocols do without stand only where they are switched on.
  if (!job.model_file.empty()) protocol["model_sha256"] = sha256_of_files({job.model_file});
  if (!job.model_options.empty()) protocol["model_options"] = job.model_options;
  if (job.dataset.augment) protocol["augment"] = true;
  if (job.dataset.context > 0) protocol["context"] = job.dataset.context;
  if (json attention = attention_json(plan); attention != "default" && !attention.empty()) {
    protocol["attention"] = std::move(attention);
  }
  if (job.cudnn_benchmark) protocol["cudnn_benchmark"] = true;
  if (job.cuda_graph) protocol["cuda_graph"] = true;
  if (!job.init_weights.empty()) {
    protocol["init_weights_sha256"] = sha256_of_files({job.init_weights});
  }
  if (json fp8 = recipe_json(job.fp8); fp8 != recipe_json({})) protocol["fp8"] = std::move(fp8);
  if (plan.gemm_rates) {
    protocol["gemm_rates"] = {{"default_tflops", plan.gemm_rates->by_default},
                              {"onednn_tflops", nullable(plan.gemm_rates->onednn)}};
  } else if (!plan.gemm_rates_unknown.empty()) {
    protocol["gemm_rates"] = nullptr;
    unknown["gemm_rates"] = plan.gemm_rates_unknown;
  }
  protocol["unknown"] = unknown;
  protocol["hash"] = protocol_hash(protocol);
  return protocol;
}

}  // namespace precbench
