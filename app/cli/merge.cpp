#include "bench/judge/merge.h"

#include <memory>

#include "bench/judge/marks.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "common/errors.h"

namespace precbench::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string format = "text";
  bool across_machines = false;
  ExportFlags exports;
};

int run_merge(const MergeOptions& options) {
  const std::vector<ExportFile> exports = options.exports.files(options.format);
  std::vector<Part> parts;
  for (const std::string& file : result_files(options.files)) {
    parts.push_back({file, load_result(file)});
  }
  Merged merged = merge_parts(std::move(parts), options.across_machines);
  for (const std::string& warning : merged.warnings) tell_error("warning", warning);
  assign_marks(merged.document);
  write_stdout(render(options.format, merged.document, stdout_options()));
  export_result(merged.document, exports);
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

void add_merge(CLI::App& root, Action& action) {
  auto* command =
      root.add_subcommand("merge", "the parts of one comparison (--shard) as one result");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("FILE", options->files, "files of the parts, or folders of them")->required();
  command->add_flag("--across-machines", options->across_machines,
                    "judge times although the parts ran on several hosts");
  command->add_option("--format", options->format, "what to print on standard output")
      ->check(CLI::IsMember(format_names()))
      ->capture_default_str();
  options->exports.add_to(*command);
  command->callback([&action, options] { action = [options] { return run_merge(*options); }; });
}

}  // namespace precbench::cli
