// tests/cases/protocols.json holds the protocol and the job of sets of options: what makes results
// comparable, and what a worker is asked, may not change in passing. With PRECBENCH_UPDATE_DOCS=1
// the test writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "../places.h"
#include "bench/plan/protocol.h"
#include "bench/plan/resolve_device.h"
#include "plan_resolving.h"

namespace precbench::plan_golden_test {
namespace {

json answers_to(const json& asked) {
  Plan plan = testing::planned(asked.at("flags").get<GivenFlags>());
  const bool is_cuda = asked.at("is_cuda").get<bool>();
  resolve_for_device(plan, is_cuda, [] { return GemmRates{0.22, 0.47}; });
  plan.attention_times[Dtype::bfloat16] = {0.268, 0.179};
  Job job;
  job.kind = JobKind::train;
  job.train = job_for(plan, *plan.modes.back(), 7, is_cuda);
  const bool is_drawn = job.train.dataset.name == "synthetic";
  const auto digest = is_drawn ? std::nullopt : std::optional(std::string(64, 'a'));
  return {{"protocol", protocol_json(plan, digest, is_cuda)}, {"job", to_json(job)}};
}

TEST(Golden, ProtocolsAndJobsOfOptionsAreWhatTheyWere) {
  const std::string path = source_dir() + "/tests/cases/protocols.json";
  json cases = json::parse(std::ifstream(path));
  const bool writes = std::getenv("PRECBENCH_UPDATE_DOCS") != nullptr;
  for (json& one : cases) {
    const json answers = answers_to(one);
    for (const char* key : {"protocol", "job"}) {
      if (writes) one[key] = answers.at(key);
      EXPECT_EQ(json::diff(one[key], answers.at(key)), json::array()) << key << one["flags"];
    }
  }
  if (writes) std::ofstream(path) << cases.dump(1) << "\n";
}

}  // namespace
}  // namespace precbench::plan_golden_test
