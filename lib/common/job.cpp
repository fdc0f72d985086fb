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
  if (is_shared(job)) {
    document["rank"] = job.rank;
    document["meeting"] = job.meeting;
    document["rank_timeout_s"] = job.rank_timeout_s;
  }
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
  job.rank = reader.value_or<int64_t>("rank", job.rank);
  job.meeting = reader.value_or<std::string>("meeting", job.meeting);
  job.rank_timeout_s = reader.value_or<double>("rank_timeout_s", job.rank_timeout_s);
  if (!is_shared(job)) return job;
  if (job.rank < 0 || job.rank >= job.train.devices) reader.fail("rank", "must be below devices");
  if (job.meeting.empty()) reader.fail("meeting", "is needed where there are several devices");
  if (!(job.rank_timeout_s > 0)) reader.fail("rank_timeout_s", "must be above 0");
  return job;
}

}  // namespace precbench
