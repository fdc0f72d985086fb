#include <memory>

#include "bench/judge/marks.h"
#include "bench/report/export.h"
#include "bench/report/formats.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "common/errors.h"

namespace precbench::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string format = "text";
  std::string color = "auto";
  ExportFlags exports;
};

int run_report(const ReportOptions& options) {
  const std::vector<ExportFile> exports = options.exports.files(options.format);
  const std::vector<std::string> files = result_files(options.files);
  if (!exports.empty() && files.size() > 1) {
    throw UsageError("--export-" + exports.front().format +
                     " takes one result file; call report once per file");
  }
  bool is_first = true;
  for (const std::string& file : files) {
    ResultDocument document = load_result(file);
    assign_marks(document);
    const std::string text =
        render(options.format, document, stdout_options(*find_word<ColorChoice>(options.color)));
    write_stdout((is_first || text.empty() ? "" : "\n") + text);
    is_first = false;
    export_result(document, exports);
  }
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

void add_report(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("report", "render a saved result again, in any format");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("FILE", options->files, "result files, or folders of them")->required();
  command->add_option("--format", options->format, "what to print on standard output")
      ->check(CLI::IsMember(format_names()))
      ->capture_default_str();
  command->add_option("--color", options->color, "colours on standard output")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  options->exports.add_to(*command);
  command->callback([&action, options] { action = [options] { return run_report(*options); }; });
}

}  // namespace precbench::cli
