#include "common/job.h"

#include "common/fields_json.h"

namespace precbench {
namespace {

bool has_training(JobKind kind) {
  return kind == JobKind::train || kind == JobKind::predict || kind == JobKind::attention;
}

}  // namespace

json recipe_json(const Float8Job& job) {
  if (job.recipe != "delayed") return {{"recipe", job.recipe}};
  return json_of(job);
}

json to_json(const Job& job) {
  json document = {{"kind", name_of(job.kind)},
                   {"device", job.device},
                   {"threads", job.threads},
                   {"parent_pid", job.parent_pid}};
  if (job.kind == JobKind::predict) document["predict"] = json_of(job.predict);
  if (has_training(job.kind)) document["train"] = json_of(job.train);
  return document;
}

Job job_from_json(const json& document) {
  const ObjectReader reader(document, "");
  Job job;
  job.kind = read_present<JobKind>(reader, "kind");
  job.device = reader.value_or<std::string>("device", job.device);
  job.threads = reader.value_or<int64_t>("threads", job.threads);
  if (job.threads < 1) reader.fail("threads", "must be at least 1");
  job.parent_pid = reader.value_or<int64_t>("parent_pid", 0);
  if (job.kind == JobKind::predict) read_fields(reader.object("predict"), job.predict);
  if (has_training(job.kind)) read_fields(reader.object("train"), job.train);
  return job;
}

}  // namespace precbench
