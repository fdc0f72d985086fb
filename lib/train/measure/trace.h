// What --dump-trace writes: one line per optimizer step, in a format that
// tests/parity/trace_file.py writes for Lightning Fabric too, so that `diff` finds the first step
// that differs. tests/parity/README.md describes it.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "train/base/torch.h"
#include "train/measure/observer.h"
#include "train/measure/step_clock.h"
#include "train/measure/step_log.h"

namespace precbench::train {

// 2-norm over all gradients as backward left them (neither unscaled nor clipped), accumulated in
// fp64. Synchronises.
double gradient_norm(const std::vector<torch::Tensor>& parameters);

// CRC-32 (zlib's, IEEE 802.3) of the bytes of all parameters in their order. Copies them to the
// host.
uint32_t weights_checksum(const std::vector<torch::Tensor>& parameters);

struct TraceStep {
  double loss = 0;              // unscaled
  double gradient_norm = 0;     // as gradient_norm(), divided by the scale
  std::optional<double> scale;  // the one used in this step; nothing without a scaler
  bool skipped = false;
};

// The line of a step, without its end.
std::string trace_line(int64_t step, const TraceStep& values, std::optional<uint32_t> checksum);

class TraceWriter {
 public:
  // Replaces the file. weights_every: steps between checksums, 0 = none. Throws FileError.
  TraceWriter(const std::string& path, int64_t weights_every);

  // `parameters` after the step. Throws FileError.
  void record(const TraceStep& values, const std::vector<torch::Tensor>& parameters);

 private:
  std::string path_;
  std::ofstream file_;
  int64_t weights_every_;
  int64_t step_ = 0;
};

// Writes the line of every step. The log must have been read back by then.
class TraceWatch : public Observer {
 public:
  TraceWatch(TraceWriter writer, const Optimizer& optimizer, Precision& precision,
             const StepLog& log, StepClock& clock)
      : writer_(std::move(writer)),
        optimizer_(optimizer),
        precision_(precision),
        log_(log),
        clock_(clock) {}

  void before_update() override;
  void after_step(Step& step) override;

 private:
  TraceWriter writer_;
  const Optimizer& optimizer_;
  Precision& precision_;
  const StepLog& log_;
  StepClock& clock_;
  TraceStep step_;
};

}  // namespace precbench::train
