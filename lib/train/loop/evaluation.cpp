#include "train/loop/training.h"

namespace precbench::train {

PassFigures Training::evaluate(std::optional<int64_t> max_batches) {
  torch::NoGradGuard no_grad;
  parts_.model.eval();
  Loader& loader = parts_.test_loader;
  PassTotals totals(parts_.device, /*sums_losses=*/true);
  PassFigures figures;
  const auto memory = graph_ != nullptr ? graph_->memory_scope() : nullptr;
  if (parts_.shared != nullptr) parts_.shared->before_evaluation();
  parts_.device.synchronize();
  const double begin_s = parts_.device.host_seconds();
  loader.start_pass();
  for (int64_t i = 0; !loader.done() && i < max_batches.value_or(i + 1); ++i) {
    const Batch batch = loader.next();
    const torch::Tensor logits = parts_.precision.forward(parts_.model, batch.input);
    // Smoothing is a way to train; what is told of the test set compares with runs without it.
    totals.add_loss(loss_of(logits, batch.target, /*label_smoothing=*/0), batch.size());
    totals.add_correct(logits, batch.target);
    figures.samples += batch.size();
  }
  parts_.device.synchronize();
  figures.seconds = parts_.device.host_seconds() - begin_s;
  if (parts_.shared != nullptr) parts_.shared->complete(totals, figures);
  figures.accuracy = totals.accuracy(figures.samples * loader.targets_per_sample());
  figures.loss = totals.mean_loss(figures.samples);
  return figures;
}

}  // namespace precbench::train
