#include "train/models/script_model.h"

#include <gmock/gmock.h>
#include <torch/script.h>

#include <fstream>

#include "../../temporary.h"
#include "../support.h"
#include "common/errors.h"
#include "train/base/errors.h"
#include "train/models/traced_module.h"

namespace precbench::train::script_model_test {
namespace {

using testing::HasSubstr;

// What torch.jit.script makes of nn.Dropout: it reads the flag from the module.
torch::jit::Module scripted() {
  torch::jit::Module module("scripted");
  module.register_attribute("training", c10::BoolType::get(), true);
  torch::manual_seed(3);
  module.register_parameter("weight", torch::randn({4, 16}, torch::requires_grad()), false);
  module.register_buffer("seen", torch::zeros({1}));
  module.define(R"(
    def forward(self, x):
      y = torch.dropout(x.flatten(1), 0.5, self.training)
      return torch.matmul(y, self.weight.t())
  )");
  return module;
}

// What torch.jit.trace makes of it.
torch::jit::Module traced(const std::string& operation) {
  torch::jit::Module module("traced");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_parameter("weight", torch::randn({4, 16}, torch::requires_grad()), false);
  module.define("def forward(self, x):\n  y = x.flatten(1)\n  y = " + operation +
                "\n  return torch.matmul(y, self.weight.t())\n");
  return module;
}

class ScriptModel : public testing::Test {
 protected:
  std::string saved(const torch::jit::Module& module) const {
    module.save(path_);
    return path_;
  }
  const std::string path_ = temporary_path("script_model.pt");
};

TEST_F(ScriptModel, ShowsItsTensorsUnderTheirNames) {
  const auto model = load_script_model(saved(scripted()));
  const auto parameters = model->named_parameters();
  ASSERT_EQ(parameters.size(), 1U);
  EXPECT_EQ(parameters[0].key(), "weight");
  EXPECT_TRUE(parameters[0].value().requires_grad());
  EXPECT_EQ(model->named_buffers().keys(), std::vector<std::string>{"seen"});
}

TEST_F(ScriptModel, ComputesWithWhatIsSteppedAndConvertedOutside) {
  const auto model = load_script_model(saved(scripted()));
  model->eval();
  const torch::Tensor input = ramp({2, 1, 4, 4});
  const torch::Tensor before = model->forward(input);
  {
    torch::NoGradGuard no_grad;
    model->parameters()[0].mul_(2.0);
  }
  EXPECT_TRUE(torch::equal(model->forward(input), before * 2));
  precision_of("bf16-true")->convert_module(*model);
  EXPECT_EQ(model->forward(input.to(torch::kBFloat16)).scalar_type(), torch::kBFloat16);
}

TEST_F(ScriptModel, SwitchesBetweenTrainingAndEvaluation) {
  const auto model = load_script_model(saved(scripted()));
  const torch::Tensor input = torch::ones({2, 1, 4, 4});
  model->eval();
  EXPECT_TRUE(torch::equal(model->forward(input), model->forward(input)));
  model->train();
  torch::manual_seed(1);
  EXPECT_FALSE(torch::equal(model->forward(input), model->forward(input)));
}

TEST_F(ScriptModel, RefusesTracedModulesThatCannotSwitch) {
  for (const char* operation :
       {"torch.dropout(y, 0.5, True)", "torch.dropout(y, 0.5, False)",
        "torch.batch_norm(y, None, None, None, None, True, 0.1, 1e-05, True)"}) {
    try {
      load_script_model(saved(traced(operation)));
      FAIL() << operation;
    } catch (const UnsupportedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("traced module with ")) << operation;
      EXPECT_THAT(error.what(), HasSubstr("torch.jit.script"));
    }
  }
}

TEST_F(ScriptModel, TakesTracedModulesThatHaveNothingToSwitch) {
  EXPECT_FALSE(cannot_switch(traced("torch.relu(y)")));
  EXPECT_FALSE(cannot_switch(traced("torch.dropout(y, 0.0, True)")));  // as timm's
}

TEST_F(ScriptModel, OtherFilesAreToldWithTheWayOut) {
  std::ofstream(path_) << "no archive";
  EXPECT_THROW(load_script_model(path_), FileError);
}

TEST_F(ScriptModel, TrainsInEveryMode) {
  saved(scripted());
  for (const std::string& mode : kCpuModes) {
    TrainJob job = small_job(mode);
    job.model = "torchscript";
    job.model_file = path_;
    job.dataset.synthetic_shape = {1, 4, 4};
    job.dataset.synthetic_classes = 4;
    job.optimizer.lr = 0.01;
    const TrainResult result = run(job);
    EXPECT_EQ(result.run.status, Status::ok) << mode;
    EXPECT_EQ(result.run.loss_trace.size(), 3U) << mode;
  }
}

TEST_F(ScriptModel, SaysWhatTheModuleDidWrong) {
  torch::jit::Module module("pair");
  module.register_parameter("weight", torch::randn({4, 16}, torch::requires_grad()), false);
  module.define("def forward(self, x):\n  return (x, self.weight)\n");
  const auto model = load_script_model(saved(module));
  EXPECT_THROW(model->forward(torch::ones({1, 16})), std::invalid_argument);
}

}  // namespace
}  // namespace precbench::train::script_model_test
