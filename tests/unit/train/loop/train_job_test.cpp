// Whole train jobs, in this process.
#include "train/loop/train_job.h"

#include <limits>
#include <map>

#include "../support.h"
#include "common/fields_json.h"
#include "train/base/errors.h"
#include "train/data/data_set.h"
#include "train/loop/training.h"

namespace precbench::train::train_job_test {
namespace {

TEST(TrainJob, EveryModeReportsACompleteRun) {
  for (const std::string& mode : kCpuModes) {
    std::vector<std::string> types;
    const TrainResult result = run(
        small_job(mode), [&](const Event& event) { types.push_back(to_json(event).at("type")); });
    const RunRecord& record = result.run;
    EXPECT_EQ(result.effective_mode, mode);
    EXPECT_EQ(record.status, Status::ok) << mode << record.reason.value_or("");
    EXPECT_EQ(record.loss_trace.size(), 3U);
    // ln 10 is the loss of a model that knows nothing.
    EXPECT_NEAR(*record.loss_trace[0], 2.303, 0.1) << mode;
    EXPECT_EQ(record.epochs.size(), 1U);
    EXPECT_DOUBLE_EQ(*record.time.total_s, *record.time.train_s + *record.time.eval_s);
    EXPECT_EQ(record.time.step_ms.samples.size(), 3U);
    EXPECT_EQ(record.memory.dataset_bytes, 96 * (144 + 8));
    EXPECT_EQ(record.scaler.has_value(), mode == "16-mixed");
    EXPECT_EQ(std::count(types.begin(), types.end(), "epoch"), 1);
    EXPECT_EQ(types.front(), "phase");
    const ModeTraits& traits = *find_mode(mode);
    EXPECT_EQ(result.recipe.param_dtype, name_of(traits.parameters));
    EXPECT_EQ(result.recipe.compute_dtype, name_of(traits.compute));
    EXPECT_EQ(result.recipe.grad_dtype, name_of(traits.parameters));
    EXPECT_EQ(result.recipe.optimizer_state_dtype, name_of(traits.parameters));
    EXPECT_EQ(result.recipe.autocast.has_value(), traits.autocast);
  }
}

// Every figure that is null says why in the same object.
void expect_reasons(const json& object, const std::string& path) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) expect_reasons(value, path + "." + key);
    if (!value.is_null() || key == "reason" || !object.contains("unknown")) continue;
    EXPECT_TRUE(object.at("unknown").contains(key)) << path << "." << key << " has no reason";
  }
}

TEST(TrainJob, NothingUnknownIsWithoutReason) {
  TrainJob diverging = small_job("32-true");
  diverging.inject_inf_at_step = 0;
  TrainJob pilot = small_job("bf16-mixed");
  pilot.pilot = true;
  pilot.optimizer.momentum = 0;
  TrainJob text = small_job("32-true");
  text.model = "gpt";
  text.model_options = {{"layers", 1}, {"heads", 1}, {"width", 16}};
  text.dataset.context = 8;
  text.optimizer.lr = 1e6;  // the largest: the perplexity overflows
  for (const TrainJob& job : {small_job("16-mixed"), diverging, pilot, text}) {
    expect_reasons(json_of(run(job)), job.mode);
  }
}

TEST(TrainJob, RepeatsBitForBitAndDependsOnTheSeed) {
  TrainJob job = small_job("bf16-mixed");
  const Samples first = run(job).run.loss_trace;
  EXPECT_EQ(run(job).run.loss_trace, first);
  job.seed = 43;
  EXPECT_NE(run(job).run.loss_trace, first);
}

// Learnable in every mode: chance is 10 %. fp16 kernels are slow on most CPUs, hence the small
// model.
TEST(TrainJob, LearnsInEveryMode) {
  for (const std::string& mode : kCpuModes) {
    TrainJob job = small_job(mode);
    job.model = "mlp";
    job.dataset.synthetic_train = 640;
    job.dataset.synthetic_test = 100;
    job.steps = mode == "16-true" || mode == "16-mixed" ? 60 : 80;
    const TrainResult result = run(job);
    EXPECT_EQ(result.run.status, Status::ok) << mode;
    EXPECT_GT(*result.run.test_accuracy, 0.7) << mode;
  }
}

// fabric-precision.md §5, row 6.
TEST(TrainJob, SixteenMixedRunsAsFabricWouldWhenAsked) {
  TrainJob job = small_job("16-mixed");
  job.cpu_fp16 = "fabric";
  const TrainResult result = run(job);
  EXPECT_EQ(result.effective_mode, "bf16-mixed");
  EXPECT_EQ(result.recipe.compute_dtype, "bfloat16");
  EXPECT_FALSE(result.run.scaler);
  EXPECT_EQ(result.run.loss_trace, run(small_job("bf16-mixed")).run.loss_trace);
}

TEST(TrainJob, AnInfiniteGradientIsSkippedByTheScaler) {
  TrainJob job = small_job("16-mixed");
  job.inject_inf_at_step = 1;
  job.steps = 2;
  const TrainResult result = run(job);
  EXPECT_EQ(result.run.status, Status::ok);
  EXPECT_EQ(result.run.scaler->skipped_steps, 1);
  EXPECT_EQ(result.run.scaler->final_scale, 32768.0);
  // Weights and momentum are those of one step: the next losses of both runs on the same data
  // agree.
  job.steps = 1;
  EXPECT_EQ(run(job).run.test_loss, result.run.test_loss);
}

TEST(TrainJob, AnInfiniteGradientDivergesWithoutAScaler) {
  for (const char* mode : {"32-true", "bf16-mixed", "bf16-true", "64-true"}) {
    TrainJob job = small_job(mode);
    job.inject_inf_at_step = 1;
    const TrainResult result = run(job);
    EXPECT_EQ(result.run.status, Status::diverged) << mode;
    EXPECT_EQ(result.run.reason, "weights became infinite or nan at step 1") << mode;
    EXPECT_EQ(result.run.loss_trace.size(), 2U) << "the run stops there";
    EXPECT_FALSE(result.run.test_accuracy);

    job.keep_going = true;
    const TrainResult continued = run(job);
    EXPECT_EQ(continued.run.status, Status::diverged) << mode;
    EXPECT_EQ(continued.run.loss_trace.size(), 3U) << mode;
    EXPECT_FALSE(continued.run.loss_trace[2]) << mode;  // null: not finite
  }
}

// Clipping a non-finite norm: an error in Fabric, so divergence here; with a scaler a step to skip.
TEST(TrainJob, ClippingANonFiniteNormDivergesOrIsSkipped) {
  TrainJob job = small_job("32-true");
  job.optimizer.clip_norm = 1.0;
  job.inject_inf_at_step = 1;
  const TrainResult plain = run(job);
  EXPECT_EQ(plain.run.status, Status::diverged);
  EXPECT_NE(plain.run.reason->find("could not be clipped"), std::string::npos);
  job.mode = "16-mixed";
  const TrainResult scaled = run(job);
  EXPECT_EQ(scaled.run.status, Status::ok);
  EXPECT_EQ(scaled.run.scaler->skipped_steps, 1);
}

// eps 1e-8 is 0 in float16: the first step of Adam divides 0 by 0 where a gradient vanished.
TEST(TrainJob, AdamInFloat16IsWarnedAbout) {
  TrainJob job = small_job("16-true");
  job.optimizer.name = "adamw";
  job.optimizer.lr = 1e-3;
  const TrainResult loop = run(job);
  ASSERT_FALSE(loop.notes.empty());
  EXPECT_NE(loop.notes[0].find("1e-08 is 0 in float16"), std::string::npos) << loop.notes[0];
  job.optimizer.impl = "fused";
  const std::string fused = json(run(job).notes).dump();  // its kernel computes in float32
  EXPECT_EQ(fused.find("in float16"), std::string::npos) << fused;
}

TEST(TrainJob, AccumulatingFourthsOfABatchIsOneWholeBatch) {
  TrainJob whole = small_job("64-true");
  whole.model = "mlp";
  TrainJob parts = whole;
  parts.batch_size = 4;
  parts.optimizer.accumulate = 4;
  const TrainResult a = run(whole), b = run(parts);
  ASSERT_EQ(b.run.loss_trace.size(), 3U);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(*a.run.loss_trace[i], *b.run.loss_trace[i], 1e-6);
}

// 22 samples in batches of 4 make windows of 4 and 2 batches, the last of them of 2 samples. With a
// rate of 0 nothing but the division tells the runs apart.
TEST(TrainJob, TheLastWindowIsDividedByItsOwnLength) {
  TrainJob single = small_job("64-true");
  single.model = "mlp";
  single.dataset.synthetic_train = 22;
  single.batch_size = 4;
  single.steps = 0;
  single.optimizer.lr = 0;
  TrainJob windows = single;
  windows.optimizer.accumulate = 4;
  const RunRecord a = run(single).run, b = run(windows).run;
  const auto mean = [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += *a.loss_trace[i];
    return sum / static_cast<double>(end - begin);
  };
  ASSERT_EQ(b.loss_trace.size(), 2U);
  EXPECT_NEAR(*b.loss_trace[0], mean(0, 4), 1e-6);
  EXPECT_NEAR(*b.loss_trace[1], mean(4, 6), 1e-6);
  EXPECT_NEAR(*b.train_loss, *a.train_loss, 1e-6) << "the mean over samples";
}

TEST(TrainJob, ARunWithoutAStepThatWasNotSkippedHasDiverged) {
  TrainJob job = small_job("16-mixed");
  job.steps = 1;
  job.inject_inf_at_step = 0;
  const TrainResult nothing = run(job);
  EXPECT_EQ(nothing.run.status, Status::diverged);
  EXPECT_EQ(nothing.run.reason, "the loss scaler skipped the only step: nothing was trained");
  EXPECT_FALSE(nothing.run.test_accuracy);
  job.steps = 2;
  const TrainResult half = run(job);
  EXPECT_EQ(half.run.status, Status::ok);
  EXPECT_NE(json(half.notes).dump().find("skipped 1 of 2 steps: hardly anything"),
            std::string::npos);
}

TEST(TrainJob, AModuleWithFewerOutputsThanClassesIsToldBeforeAStep) {
  TrainJob job = small_job("32-true");
  job.model = "mlp";
  CpuDevice device;
  const auto with_another_class = [](const TrainJob& of, DeviceModule& /*device*/) {
    DataSet data = load_data_set(of.dataset, of.seed);
    data.train.targets = data.train.targets.unsqueeze(1);
    return data;
  };
  try {
    run_train_job(
        job, device, [](const Event&) {}, with_another_class);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("returns [16, 10] for targets of the shape [16, 1]"),
              std::string::npos)
        << error.what();
  }
}

TEST(TrainJob, AModeOrAnOptimizerThatCannotRunIsUnsupported) {
  EXPECT_THROW(run(small_job("tf32")), UnsupportedError);
  TrainJob job = small_job("32-true");
  job.model = "unheard-of";
  EXPECT_THROW(run(job), UnsupportedError);
}

TEST(TrainJob, ValuesThatAreNotPossibleAreNamed) {
  const auto message = [](auto&& change) -> std::string {
    TrainJob job = small_job("32-true");
    change(job);
    try {
      run(job);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([](TrainJob& job) { job.mode = "16-mixd"; }), "mode '16-mixd' is not known");
  EXPECT_EQ(message([](TrainJob& job) { job.optimizer.accumulate = 0; }),
            "optimizer.accumulate must be at least 1");
  EXPECT_EQ(message([](TrainJob& job) { job.optimizer.impl = "fast"; }),
            "optimizer.impl 'fast' is not one of loop, foreach, fused");
  // fabric-precision.md §5, row 26: not both ways of clipping at once.
  EXPECT_NE(message([](TrainJob& job) {
              job.optimizer.clip_norm = job.optimizer.clip_value = 1;
            }).find("exclude each other"),
            std::string::npos);
}

TEST(TrainJob, AMemoryLimitEndsInAnOutOfMemoryError) {
  CountingAllocator::instance().set_limit(CountingAllocator::instance().current() + (1 << 20));
  EXPECT_THROW(run(small_job("32-true")), c10::OutOfMemoryError);
  CountingAllocator::instance().set_limit(0);
}

// --batch-size max trains where its trials of two steps have just fitted; the looks at a run's
// numbers (step 3 is the first) keep a copy of the weights meanwhile.
TEST(TrainJob, WhatTwoTrialStepsNeedIsEnoughForARun) {
  TrainJob job = small_job("32-true");
  job.pilot = true;
  job.steps = 2;
  job.memory_limit_bytes = *run(job).run.memory.peak_allocated_bytes;
  job.pilot = false;
  job.steps = 6;
  const TrainResult result = run(job);
  CountingAllocator::instance().set_limit(0);
  EXPECT_EQ(result.run.status, Status::ok);
  EXPECT_FALSE(result.run.numerics.at("sampled").empty());
}

TEST(TrainJob, APilotStopsAtItsTimeAndEvaluatesOneBatch) {
  TrainJob job = small_job("32-true");
  job.pilot = true;
  job.pilot_limit_s = 0;  // over with the first step
  const TrainResult result = run(job);
  EXPECT_EQ(result.run.loss_trace.size(), 1U);
  EXPECT_FALSE(result.run.test_accuracy);
  EXPECT_TRUE(result.run.time.eval_s);
}

TEST(TrainJob, TheTunedSettingsTrainToo) {
  for (const char* impl : {"foreach", "fused"}) {
    TrainJob job = small_job("32-true");
    const TrainResult plain = run(job);
    job.memory_format = "channels_last";
    job.gemm = "onednn";
    job.optimizer.impl = impl;
    const TrainResult tuned = run(job);
    EXPECT_EQ(tuned.recipe.compute_dtype, "float32");
    EXPECT_EQ(tuned.recipe.memory_format, "channels_last");
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(*tuned.run.loss_trace[i], *plain.run.loss_trace[i], 1e-4);
    }
  }
}

// Products are seen, which PyTorch makes of float32 copies, and the losses are the fused kernel's.
TEST(TrainJob, AttentionByMathIsTheSameTraining) {
  TrainJob job = small_job("bf16-mixed");
  job.model = "vit_tiny";
  job.model_options = {{"depth", 1}};
  job.dataset.synthetic_shape = {3, 32, 32};
  const TrainResult fused = run(job);
  EXPECT_FALSE(fused.recipe.details.contains("attention_dtype"));
  job.attention = "math";
  const TrainResult math = run(job);
  EXPECT_EQ(math.recipe.details.at("attention"), "math");
  EXPECT_EQ(math.recipe.details.at("attention_dtype"), "float32");
  EXPECT_NEAR(*math.run.loss_trace[0], *fused.run.loss_trace[0], 0.02);
  EXPECT_NEAR(*math.run.loss_trace[2], *fused.run.loss_trace[2], 0.05);
  job.attention = "default";
  EXPECT_EQ(run(job).run.loss_trace, fused.run.loss_trace);
}

// --init module draws in the mode's dtype: other numbers than a float32 draw that is cast.
TEST(TrainJob, InitModuleDrawsOtherWeights) {
  TrainJob job = small_job("64-true");
  const Samples cast = run(job).run.loss_trace;
  job.init = "module";
  EXPECT_NE(run(job).run.loss_trace, cast);
}

TEST(TrainJob, LabelSmoothingRaisesTheLossOfAConfidentModel) {
  TrainJob job = small_job("32-true");
  const Samples plain = run(job).run.loss_trace;
  job.label_smoothing = 0.1;
  EXPECT_NE(run(job).run.loss_trace, plain);
}

TEST(TrainJob, TheTestLossIsWithoutLabelSmoothing) {
  TrainJob job = small_job("32-true");
  job.optimizer.lr = 0;
  const RunRecord plain = run(job).run;
  job.label_smoothing = 0.3;
  const RunRecord smoothed = run(job).run;
  EXPECT_EQ(smoothed.test_loss, plain.test_loss);
  EXPECT_NE(smoothed.train_loss, plain.train_loss);
}

}  // namespace
}  // namespace precbench::train::train_job_test
