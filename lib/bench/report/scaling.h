// `precbench scaling`: one comparison trained on several numbers of devices, side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/document.h"
#include "bench/text/render_options.h"

namespace precbench {

// A mode on a number of devices. What is compared is compared with the smallest number in the table
// on which the mode ran.
struct ScalingRow {
  std::string mode;
  int64_t devices = 1;
  int64_t batch_size = 0;  // of each
  std::string status;      // "ok", or why there are no figures
  std::optional<double> samples_per_s;
  std::optional<double> speedup;
  std::optional<double> efficiency;  // speed-up over the ratio of the devices
  std::optional<double> test_accuracy;
  std::optional<double> accuracy_change;
  std::optional<CommunicationRecord> communication;  // of the first run
  std::optional<double> step_ms;
};

struct Scaling {
  std::string workload;  // of the smallest number of devices
  std::vector<ScalingRow> rows;
  std::vector<std::string> notes;
};

// Throws FileError where the documents differ in more than devices and batch size, or two have the
// same number of devices.
Scaling scaling_of(std::vector<ResultDocument> documents);

// text | markdown | json
std::string render_scaling(const Scaling& scaling, const std::string& format,
                           const RenderOptions& options);

}  // namespace precbench
