#include "bench/report/matrix.h"

#include <filesystem>
#include <memory>

#include "bench/files/atomic_file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench::cli {
namespace {

struct MatrixOptions {
  std::vector<std::string> files;
  std::string metrics = "time,memory,test_accuracy";
  std::string format = "text";
  ExportFlags exports;
};

std::vector<const MetricTraits*> metrics_of(const std::string& names) {
  std::vector<const MetricTraits*> metrics;
  for (const std::string& name : CLI::detail::split(names, ',')) {
    const MetricTraits* metric = find_metric(name);
    if (metric == nullptr) {
      std::vector<std::string> known;
      for (const MetricTraits& row : kMetrics) known.emplace_back(row.name);
      throw UsageError("unknown metric '" + name + "'\nmetrics: " + joined(known));
    }
    metrics.push_back(metric);
  }
  return metrics;
}

int run_matrix(const MatrixOptions& options) {
  const std::vector<const MetricTraits*> metrics = metrics_of(options.metrics);
  const std::vector<ExportFile> exports = options.exports.files(options.format);
  std::vector<ResultDocument> documents;
  std::vector<std::string> names;
  for (const std::string& file : result_files(options.files)) {
    documents.push_back(load_result(file));
    names.push_back(std::filesystem::path(file).stem().string());
  }
  const std::vector<MatrixGroup> groups = matrix_of(std::move(documents), names);
  for (const ExportFile& file : exports) {
    write_atomically(file.path, render_matrix(groups, metrics, file.format, {}));
  }
  write_stdout(render_matrix(groups, metrics, options.format, stdout_options()));
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

void add_matrix(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("matrix", "many machines' results side by side");
  auto options = std::make_shared<MatrixOptions>();
  command->add_option("FILE", options->files, "result files, or folders of them")->required();
  command->add_option("--metric", options->metrics, "one table each, comma-separated")
      ->type_name("METRIC,...")
      ->join(',')
      ->capture_default_str();
  command->add_option("--format", options->format, "what to print on standard output")
      ->check(CLI::IsMember(matrix_formats(&MatrixFormat::is_printed)))
      ->capture_default_str();
  options->exports.add_to(*command, matrix_formats(&MatrixFormat::is_exported));
  command->callback([&action, options] { action = [options] { return run_matrix(*options); }; });
}

}  // namespace precbench::cli
