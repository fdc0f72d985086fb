// What several ranks that train one model do together in a step, as DistributedDataParallel does
// it and Fabric's strategy "ddp".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/run_record.h"
#include "train/loop/objective.h"
#include "train/models/model.h"
#include "train/optim/optimizer.h"
#include "train/parallel/ranks.h"

namespace precbench::train {

class SharedTraining {
 public:
  // Gives all ranks the weights and buffers of the first.
  SharedTraining(Ranks& ranks, Model& model, const Optimizer& optimizer,
                 const std::string& compression);

  // Around a training batch's forward pass. `averages`: its backward pass is a step's last, which
  // leaves the mean over all ranks of the step's gradients.
  void before_forward(bool averages);
  void after_forward(bool averages);

  // Buffers are the first rank's in evaluation, too.
  void before_evaluation();

  bool is_last_rank() const { return ranks_.rank() == ranks_.size() - 1; }
  torch::Tensor mean(const torch::Tensor& loss) { return ranks_.mean(loss); }
  bool any(bool value) { return ranks_.largest(value ? 1 : 0) > 0; }

  // Of all ranks: each has had equally many samples.
  void complete(PassTotals& totals, PassFigures& figures);

  // Of a step.
  CommunicationRecord communication();

 private:
  Ranks& ranks_;
  std::vector<torch::Tensor> buffers_;
  std::unique_ptr<GradientAverage> average_;
  int64_t gradient_bytes_ = 0;
  bool syncs_buffers_ = true;  // after a backward pass that averaged
};

}  // namespace precbench::train
