// --cuda-graph on a device that is the CPU and "records" by keeping the work to do it again. What a
// recording does to memory is a GPU's own: scripts/gpu-check looks at that.
#include "train/loop/step_graph.h"

#include <gmock/gmock.h>

#include "../../../kept_work.h"
#include "../support.h"
#include "train/base/errors.h"
#include "train/measure/memory_profile.h"
#include "train/measure/numeric_health.h"

namespace precbench::train::step_graph_test {
namespace {

using testing::HasSubstr;

class RecordingDevice : public CpuDevice {
 public:
  bool has_graphs() const override { return true; }
  void prepare_for_graphs() override { is_prepared = true; }
  std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>& work) override {
    EXPECT_TRUE(is_prepared);
    ++recordings;
    if (fails) throw std::runtime_error("operation not permitted when stream is capturing\nmore");
    return std::make_unique<KeptWork>(work);
  }

  bool is_prepared = false, fails = false;
  int recordings = 0;
};

// Epochs of three whole batches and one of 8.
TrainJob graph_job(const std::string& mode) {
  TrainJob job = small_job(mode);
  job.dataset.synthetic_train = 56;
  job.steps = 16;
  job.optimizer.impl = "fused";
  job.cuda_graph = true;
  return job;
}

TrainResult run_on(RecordingDevice& device, const TrainJob& job) {
  at::set_num_threads(1);
  return run_train_job(job, device, [](const Event&) {});
}

bool is_whole_batch(int64_t step) { return step % 4 != 3; }

int64_t steps_alike(const TrainJob& job) {
  int64_t count = 0;
  for (int64_t step = StepGraph::kWarmUpSteps; step < job.steps; ++step) {
    count += is_whole_batch(step) && !NumericHealth::wants(step) &&
                     !MemoryProfile::wants(step, job.steps) && step != job.inject_inf_at_step
                 ? 1
                 : 0;
  }
  return count;
}

json graph_of(const TrainResult& result) { return result.recipe.details.at("cuda_graph"); }

TEST(StepGraph, TrainsAsOneOperationAfterTheOther) {
  for (const char* mode : {"32-true", "bf16-mixed", "16-mixed", "64-true", "transformer-engine"}) {
    for (const char* optimizer : {"sgd", "adamw"}) {
      TrainJob job = graph_job(mode);
      if (job.mode == "transformer-engine" && std::string(optimizer) == "sgd") {
        continue;  // its parameters are bfloat16, which fused SGD leaves as they are on a CPU
      }
      if (job.mode == "16-mixed" || job.mode == "transformer-engine") job.model = "mlp";
      job.optimizer.name = optimizer;
      job.optimizer.lr = 0.01;
      job.inject_inf_at_step = job.mode == "16-mixed" ? 8 : -1;
      RecordingDevice device;
      const TrainResult graph = run_on(device, job);
      job.cuda_graph = false;
      const TrainResult plain = run(job);
      const std::string what = std::string(mode) + " " + optimizer;
      EXPECT_EQ(graph.run.loss_trace, plain.run.loss_trace) << what;
      EXPECT_EQ(graph.run.train_accuracy, plain.run.train_accuracy) << what;
      EXPECT_EQ(graph.run.test_loss, plain.run.test_loss) << what;
      EXPECT_EQ(graph_of(graph)["replayed_steps"], steps_alike(job)) << what;
      EXPECT_TRUE(graph_of(graph)["why_none"].is_null()) << what;
      EXPECT_TRUE(graph.run.scaler.has_value() == (job.mode == "16-mixed"));
      if (graph.run.scaler) {
        EXPECT_EQ(graph.run.scaler->skipped_steps, 1);
      }
      EXPECT_EQ(device.recordings, 1) << what;
      EXPECT_FALSE(plain.recipe.details.contains("cuda_graph"));
    }
  }
}

TEST(StepGraph, FollowsTheSchedule) {
  TrainJob job = graph_job("32-true");
  job.schedule.name = "cosine";
  job.schedule.warmup_steps = 2;
  RecordingDevice device;
  const Samples graph = run_on(device, job).run.loss_trace;
  job.cuda_graph = false;
  EXPECT_EQ(graph, run(job).run.loss_trace);
}

TEST(StepGraph, SaysWhyThereIsNone) {
  const auto why = [](const std::function<void(TrainJob&)>& change,
                      const std::string& mode = "32-true") {
    TrainJob job = graph_job(mode);
    change(job);
    RecordingDevice device;
    const TrainResult result = run_on(device, job);
    EXPECT_EQ(graph_of(result)["replayed_steps"], 0);
    EXPECT_EQ(device.recordings, 0);
    const std::string reason = graph_of(result)["why_none"];
    EXPECT_THAT(result.notes, testing::Contains("no CUDA graph: " + reason));
    EXPECT_TRUE(result.run.test_accuracy) << "it trains all the same";
    return reason;
  };
  EXPECT_THAT(why([](TrainJob& job) { job.optimizer.impl = "foreach"; }),
              HasSubstr("the foreach optimizer computes on the host"));
  EXPECT_THAT(why([](TrainJob& job) { job.optimizer.accumulate = 2; }), HasSubstr("accumulates"));
  EXPECT_THAT(why([](TrainJob& job) { job.optimizer.clip_norm = 1; }), HasSubstr("--keep-going"));
  EXPECT_THAT(why([](TrainJob& job) { job.steps = 3; }), HasSubstr("first 3 steps"));
  EXPECT_THAT(why([](TrainJob& job) {
                job.dump_trace = testing::TempDir() + "trace.jsonl";
                job.steps = 5;
              }),
              HasSubstr("--dump-trace"));
  CpuDevice cpu;
  EXPECT_EQ(graph_obstacle(graph_job("32-true"), cpu, false), "a CPU has none");
}

// These do not wait for the device.
TEST(StepGraph, ClipsByNormWhereNothingIsReadBack) {
  TrainJob job = graph_job("32-true");
  job.optimizer.clip_norm = 0.1;
  job.keep_going = true;
  RecordingDevice device;
  const TrainResult graph = run_on(device, job);
  EXPECT_EQ(graph_of(graph)["replayed_steps"], steps_alike(job));
  job.cuda_graph = false;
  EXPECT_EQ(graph.run.loss_trace, run(job).run.loss_trace);
  EXPECT_FALSE(graph_obstacle(job, device, /*has_scaler=*/true));
}

TEST(StepGraph, AStepThatCannotBeRecordedIsUnsupported) {
  RecordingDevice device;
  device.fails = true;
  try {
    run_on(device, graph_job("32-true"));
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_STREQ(error.what(),
                 "a step cannot be recorded as a CUDA graph: operation not permitted when stream "
                 "is capturing; train it without --cuda-graph");
  }
}

TEST(StepGraph, APilotHasNone) {
  TrainJob job = graph_job("32-true");
  job.pilot = true;
  RecordingDevice device;
  EXPECT_FALSE(run_on(device, job).recipe.details.contains("cuda_graph"));
}

}  // namespace
}  // namespace precbench::train::step_graph_test
