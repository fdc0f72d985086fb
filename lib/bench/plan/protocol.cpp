#include "bench/plan/protocol.h"

#include "bench/files/sha256.h"
#include "bench/plan/resolve_device.h"
#include "bench/result/protocol_hash.h"
#include "common/fields_json.h"
#include "common/names.h"

namespace precbench {
namespace {

// The members that their fields count to the protocol; what is null says why.
template <typename Record>
void put_fields(const Record& record, json& protocol) {
  const Record defaults;
  for_each_field(record, [&](const auto& field, const auto& value) {
    if constexpr (Described<std::remove_cvref_t<decltype(value)>>) {
      put_fields(value, protocol);
    } else {
      const bool is_set = value != defaults.*(field.member);
      if (field.rule.protocol == InProtocol::no) return;
      if (field.rule.protocol == InProtocol::if_set && !is_set) return;
      const std::string name(field.name());
      protocol[name] = json_of(value);
      if (protocol[name].is_null()) protocol["unknown"][name] = field.rule.why_null;
    }
  });
}

// "math" where it was asked for, else {format: "math"} of those in which it was found to be faster;
// the modes that a comparison asks for have no part in it.
json attention_json(const Plan& plan) {
  if (plan.job.attention != "auto") return plan.job.attention;
  json object = json::object();
  for (const auto& [format, times] : plan.attention_times) {
    const std::string chosen = attention_for(plan, format);
    if (chosen != "default") object[std::string(name_of(format))] = chosen;
  }
  return object;
}

// Where it lies says nothing about what it is.
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

json protocol_json(const Plan& plan, const std::optional<std::string>& data_sha256, bool is_cuda,
                   const std::optional<data::DatasetSummary>& data) {
  // As the reference mode trains; where `auto` differs between modes each row's recipe tells.
  const TrainJob job = job_for(plan, *plan.reference, plan.seeds.front(), is_cuda);
  json protocol = {{"profile", plan.profile},
                   {"semantics", kSemanticsVersion},
                   {"data_sha256", nullable(data_sha256)},
                   {"betas", {job.optimizer.beta1, job.optimizer.beta2}},
                   {"unknown", json::object()}};
  put_fields(job, protocol);
  json& unknown = protocol["unknown"];
  if (!data_sha256) unknown["data_sha256"] = "synthetic data are generated from the seed";
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
      if (size == 0) unknown[key] = "the worker alone can read such data";
    }
  }
  if (job.model == kPython) protocol["model"] = file_name(job.model_file);
  if (job.dataset.name == kPython) protocol["dataset"] = file_name(job.dataset.dir);
  if (plan.own_batches) {
    protocol["batch_size"] = kLargestBatch;
    protocol["lr_scale"] = name_of(plan.lr_scale);
    protocol["memory_limit_bytes"] = job.memory_limit_bytes;  // it decides the batches
  }
  // Members that most protocols do without stand only where they are switched on.
  const std::string file =
      job.model == kPython ? data::python_file_of(job.model_file) : job.model_file;
  if (!file.empty()) protocol["model_sha256"] = sha256_of_files({file});
  if (json attention = attention_json(plan); attention != "default" && !attention.empty()) {
    protocol["attention"] = std::move(attention);
  }
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
  protocol["hash"] = protocol_hash(protocol);
  return protocol;
}

}  // namespace precbench
