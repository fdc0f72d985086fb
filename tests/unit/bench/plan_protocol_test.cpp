#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "../temporary.h"
#include "bench/plan/protocol.h"
#include "bench/result/protocol_hash.h"
#include "plan_resolving.h"

namespace precbench::plan_protocol_test {
namespace {

Plan default_plan() {
  Plan plan;
  plan.modes = {find_mode("32-true")};
  plan.reference = plan.modes.front();
  plan.seeds = {42};
  return plan;
}

json default_protocol() { return protocol_json(default_plan(), std::string(64, 'a'), false); }

// From Python, without `unknown`:
// hashlib.sha256(json.dumps(protocol, sort_keys=True, separators=(",", ":")).encode())
TEST(Protocol, PythonComputesTheSameHash) {
  EXPECT_EQ(default_protocol()["hash"],
            "925748f050267c4a7c5c24a373bb753e72e12e38cde1e1c0febed0ae21269f41");
}

TEST(Protocol, AReasonInOtherWordsIsTheSameProtocol) {
  json reworded = default_protocol();
  reworded["unknown"]["clip_norm"] = "gradients are not clipped";
  EXPECT_EQ(protocol_hash(reworded), default_protocol()["hash"]);
}

TEST(Protocol, TellsWhatGemmWasChosenByAndStaysTheSame) {
  Plan plan = default_plan();
  plan.gemm_rates = {0.22, 0.47};
  const json protocol = protocol_json(plan, std::string(64, 'a'), false);
  EXPECT_EQ(protocol["gemm_rates"], json({{"default_tflops", 0.22}, {"onednn_tflops", 0.47}}));
  EXPECT_EQ(protocol["hash"], default_protocol()["hash"]);
  plan.gemm_rates.reset();
  plan.gemm_rates_unknown = "the worker crashed";
  const json without = protocol_json(plan, std::string(64, 'a'), false);
  EXPECT_TRUE(without["gemm_rates"].is_null());
  EXPECT_EQ(without["unknown"]["gemm_rates"], "the worker crashed");
  EXPECT_EQ(without["hash"], default_protocol()["hash"]);
}

TEST(Protocol, TellsWhichFormatsComputeAttentionOtherwise) {
  EXPECT_FALSE(default_protocol().contains("attention"));
  Plan plan = testing::planned({{"model", {"vit_tiny"}}, {"profile", {"tuned"}}});
  plan.attention_times[Dtype::bfloat16] = {0.268, 0.179};
  plan.attention_times[Dtype::float32] = {0.277, 0.275};
  const auto protocol = [&plan] { return protocol_json(plan, std::string(64, 'a'), false); };
  EXPECT_EQ(protocol()["attention"], json({{"bfloat16", "math"}}));
  const json chosen = protocol()["hash"];
  plan.job.attention = "math";
  EXPECT_EQ(protocol()["attention"], "math");
  plan.job.attention = "default";
  EXPECT_FALSE(protocol().contains("attention"));
  EXPECT_NE(protocol()["hash"], chosen);
}

// What accuracies are judged by: a share of how many samples, out of how many classes.
TEST(Protocol, TellsTheSizesOfTheData) {
  data::DatasetSummary data;
  data.train_samples = 4096;
  data.test_samples = 1000;
  data.classes = 10;
  const json protocol = protocol_json(default_plan(), std::string(64, 'a'), false, data);
  EXPECT_EQ(protocol["train_samples"], 4096);
  EXPECT_EQ(protocol["test_samples"], 1000);
  EXPECT_EQ(protocol["classes"], 10);
}

TEST(Protocol, TextBeyondAsciiIsEscapedAsInPython) {
  // json.dumps({"model": "caf\u00e9 \U0001f600", "lr": 1e-05}, ...) =
  // {"lr":1e-05,"model":"caf\u00e9 \ud83d\ude00"}
  EXPECT_EQ(protocol_hash({{"model", "caf\u00e9 \U0001F600"}, {"lr", 1e-05}, {"hash", "ignored"}}),
            "7a30548ec8b00370a318e7194076b37dd577a1df1bbe472cb9185f6cedbee58b");
}

TEST(Protocol, HasTheContractsKeys) {
  const json protocol = default_protocol();
  for (const char* key :
       {"hash",        "profile",         "semantics",    "model",          "dataset",
        "data_sha256", "limit_train",     "limit_test",   "image_size",     "batch_size",
        "epochs",      "steps",           "optimizer",    "optimizer_impl", "lr",
        "momentum",    "nesterov",        "weight_decay", "betas",          "eps",
        "schedule",    "label_smoothing", "clip_norm",    "clip_value",     "accumulate",
        "init",        "loss_autocast",   "gemm",         "tf32",           "deterministic",
        "cpu_fp16",    "memory_format"}) {
    EXPECT_TRUE(protocol.contains(key)) << key;
  }
}

TEST(Protocol, WhatIsNullSaysWhy) {
  Plan plan = default_plan();
  plan.job.dataset.name = "synthetic";
  const json protocol = protocol_json(plan, std::nullopt, false);
  EXPECT_TRUE(protocol["data_sha256"].is_null());
  for (const auto& [key, value] : protocol.items()) {
    EXPECT_EQ(value.is_null(), protocol["unknown"].contains(key)) << key;
  }
  for (const auto& [key, reason] : protocol["unknown"].items()) {
    EXPECT_TRUE(protocol[key].is_null()) << key;
    EXPECT_FALSE(reason.get<std::string>().empty()) << key;
  }
}

TEST(Protocol, SizesOfSyntheticDataMakeAnotherProtocol) {
  Plan plan = default_plan();
  plan.job.dataset.name = "synthetic";
  const json before = protocol_json(plan, std::nullopt, false)["hash"];
  plan.job.dataset.synthetic_train += 1;
  EXPECT_NE(protocol_json(plan, std::nullopt, false)["hash"], before);
}

TEST(Protocol, SeedsRepeatsModesThreadsAndDeviceAreNotInIt) {
  Plan plan = default_plan();
  plan.seeds = {1, 2};
  plan.repeats = 3;
  plan.modes.push_back(find_mode("16-mixed"));
  plan.threads = 64;
  plan.device = "cpu";
  plan.title = "another";
  EXPECT_EQ(protocol_json(plan, std::string(64, 'a'), false), default_protocol());
}

// The same run from other weights, or with another FP8 recipe, is another run.
TEST(Protocol, InitialWeightsAndTheFp8RecipeCount) {
  Plan plan = default_plan();
  plan.job.fp8.recipe = "dynamic";
  EXPECT_EQ(protocol_json(plan, std::string(64, 'a'), false)["fp8"], json({{"recipe", "dynamic"}}));
  const std::string path = temporary_path("weights.pt");
  std::ofstream(path) << "abc";
  plan.job.init_weights = path;
  // sha256sum of "abc" (FIPS 180-2, appendix B.1)
  EXPECT_EQ(protocol_json(plan, std::string(64, 'a'), false)["init_weights_sha256"],
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Protocol, EveryMemberOfTheWorkloadChangesTheHash) {
  const json base = default_protocol();
  const auto hash_with = [](void (*change)(Plan&)) {
    Plan plan = default_plan();
    change(plan);
    return protocol_json(plan, std::string(64, 'a'), false)["hash"];
  };
  EXPECT_NE(hash_with([](Plan& plan) { plan.job.batch_size = 64; }), base["hash"]);
  EXPECT_NE(hash_with([](Plan& plan) { plan.job.optimizer.lr = 0.051; }), base["hash"]);
  EXPECT_NE(hash_with([](Plan& plan) { plan.job.optimizer.clip_norm = 1.0; }), base["hash"]);
  EXPECT_NE(hash_with([](Plan& plan) { plan.job.loss_autocast = true; }), base["hash"]);
  EXPECT_NE(hash_with([](Plan& plan) { plan.job.init = "module"; }), base["hash"]);
  EXPECT_NE(hash_with([](Plan& plan) { plan.profile = "tuned"; }), base["hash"]);
  EXPECT_NE(protocol_json(default_plan(), std::string(64, 'b'), false)["hash"], base["hash"]);
}

}  // namespace
}  // namespace precbench::plan_protocol_test
