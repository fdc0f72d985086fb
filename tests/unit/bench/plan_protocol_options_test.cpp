// Which options make another protocol.
#include <gtest/gtest.h>

#include <set>

#include "bench/plan/protocol.h"
#include "bench/plan/resolve_device.h"
#include "plan_resolving.h"

namespace precbench::plan_protocol_options_test {
namespace {

using testing::planned;

json protocol(const GivenFlags& flags, bool is_cuda = false,
              const std::optional<std::string>& digest = "d1") {
  Plan plan = planned(flags);
  resolve_for_device(plan, is_cuda, [] { return GemmRates{1.0, 1.0}; });
  return protocol_json(plan, digest, is_cuda);
}

std::string hash(const GivenFlags& flags) { return protocol(flags)["hash"].get<std::string>(); }

TEST(ProtocolOfOptions, IsTheSameWhereFiguresCompare) {
  const std::string base = hash({});
  const std::initializer_list<GivenFlags> same = {
      {{"seed", {"7"}}},         {{"seeds", {"1,2"}}},  {{"repeats", {"3"}}},
      {{"modes", {"32-true"}}},  {{"threads", {"1"}}},  {{"timeout", {"5m"}}},
      {{"results-dir", {"x"}}},  {{"format", {"csv"}}}, {{"order", {"random"}}},
      {{"data-dir", {"/data"}}}, {{"pilot", {"0"}}},    {{"lr", {"5e-2"}}}};
  for (const GivenFlags& flags : same) EXPECT_EQ(hash(flags), base) << flags.begin()->first;
}

TEST(ProtocolOfOptions, DiffersWhereFiguresDoNotCompare) {
  const std::initializer_list<GivenFlags> changes = {
      {},
      {{"model", {"mlp"}}},
      {{"dataset", {"mnist"}}},
      {{"limit-train", {"1000"}}},
      {{"limit-test", {"1000"}}},
      {{"batch-size", {"64"}}},
      {{"devices", {"2"}}},
      {{"devices", {"2"}}, {"grad-compression", {"bf16"}}},
      {{"epochs", {"2"}}},
      {{"steps", {"10"}}},
      {{"optimizer", {"adamw"}}},
      {{"optimizer-impl", {"foreach"}}},
      {{"lr", {"0.06"}}},
      {{"momentum", {"0.8"}}},
      {{"nesterov", {"true"}}},
      {{"weight-decay", {"0.1"}}},
      {{"schedule", {"cosine"}}},
      {{"warmup-steps", {"5"}}},
      {{"schedule-on-skip", {"hold"}}},
      {{"label-smoothing", {"0.1"}}},
      {{"clip-norm", {"1"}}},
      {{"clip-value", {"1"}}},
      {{"accumulate", {"2"}}},
      {{"init", {"module"}}},
      {{"loss-autocast", {"true"}}},
      {{"gemm", {"onednn"}}},
      {{"tf32", {"on"}}},
      {{"augment", {"true"}}},
      {{"image-size", {"32"}}},
      {{"eval-every", {"0"}}},
      {{"cudnn-benchmark", {"true"}}},
      {{"deterministic", {"on"}}},
      {{"cpu-fp16", {"fabric"}}},
      {{"memory-format", {"channels_last"}}},
      {{"profile", {"tuned"}}}};
  std::set<std::string> hashes;
  for (const GivenFlags& flags : changes) hashes.insert(hash(flags));
  EXPECT_EQ(hashes.size(), changes.size());
  EXPECT_NE(protocol({}, false, "d1")["hash"], protocol({}, false, "d2")["hash"]);
}

}  // namespace
}  // namespace precbench::plan_protocol_options_test
