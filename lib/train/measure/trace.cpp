#include "train/measure/trace.h"

#include <boost/crc.hpp>
#include <cmath>
#include <cstdio>

#include "common/errors.h"

namespace precbench::train {
namespace {

// printf of one number; nan without the sign that C may print and Python does not.
std::string printed(const char* format, double value) {
  if (std::isnan(value)) return "nan";
  char text[64];  // longest: "%.13a" with 24 characters
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

// 9 digits read back as the same float32, 17 as the same double.
std::string decimal_float(double value) { return printed("%.9g", value); }
std::string decimal_double(double value) { return printed("%.17g", value); }

// Python's float.hex(), which prints an infinity as a word, as C does.
std::string hexadecimal(double value) { return printed("%.13a", value); }

}  // namespace

double gradient_norm(const std::vector<torch::Tensor>& parameters) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> norms;
  for (const torch::Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    norms.push_back(
        at::linalg_vector_norm(parameter.grad(), 2, std::nullopt, /*keepdim=*/false, at::kDouble));
  }
  if (norms.empty()) return 0;
  return at::linalg_vector_norm(at::stack(norms)).item<double>();
}

uint32_t weights_checksum(const std::vector<torch::Tensor>& parameters) {
  boost::crc_32_type crc;
  for (const torch::Tensor& parameter : parameters) {
    const torch::Tensor bytes = parameter.detach().contiguous().cpu();
    crc.process_bytes(bytes.const_data_ptr(), bytes.nbytes());
  }
  return crc.checksum();
}

std::string trace_line(int64_t step, const TraceStep& values, std::optional<uint32_t> checksum) {
  std::string line = std::to_string(step) + " " + decimal_float(values.loss) + " " +
                     hexadecimal(values.loss) + " " + decimal_double(values.gradient_norm) + " " +
                     (values.scale ? decimal_float(*values.scale) : "-") + " " +
                     (values.skipped ? "1" : "0") + " ";
  if (!checksum) return line + "-";
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", static_cast<unsigned>(*checksum));
  return line + text;
}

TraceWriter::TraceWriter(const std::string& path, int64_t weights_every)
    : path_(path), file_(path), weights_every_(weights_every) {
  file_ << "# precbench trace 1\n# step loss loss_hex grad_norm scale skipped weights\n"
        << std::flush;
  if (!file_) throw FileError("cannot write the trace " + path_);
}

void TraceWriter::record(const TraceStep& values, const std::vector<torch::Tensor>& parameters) {
  std::optional<uint32_t> checksum;
  if (weights_every_ > 0 && (step_ + 1) % weights_every_ == 0) {
    checksum = weights_checksum(parameters);
  }
  // Flushed: the steps before a crash are what someone will look for.
  file_ << trace_line(step_++, values, checksum) << '\n' << std::flush;
  if (!file_) throw FileError("cannot write the trace " + path_);
}

void TraceWatch::before_update() {
  clock_.pause([this] {
    step_.scale.reset();
    if (const GradScaler* scaler = precision_.scaler()) step_.scale = scaler->current_scale();
    step_.gradient_norm = gradient_norm(optimizer_.parameters()) / step_.scale.value_or(1.0);
  });
}

void TraceWatch::after_step(Step& /*step*/) {
  clock_.pause([this] {
    step_.loss = log_.steps().back().loss;
    step_.skipped = log_.steps().back().skipped;
    writer_.record(step_, optimizer_.parameters());
  });
}

}  // namespace precbench::train
