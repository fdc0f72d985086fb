#include "bench/report/scaling.h"

#include <memory>

#include "bench/files/atomic_file.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace precbench::cli {
namespace {

struct ScalingOptions {
  std::vector<std::string> files;
  std::string format = "text";
};

int print_scaling(const ScalingOptions& options) {
  std::vector<ResultDocument> documents;
  for (const std::string& file : result_files(options.files)) {
    documents.push_back(load_result(file));
  }
  write_stdout(render_scaling(scaling_of(std::move(documents)), options.format, stdout_options()));
  return 0;
}

}  // namespace

void add_scaling(CLI::App& root, Action& action) {
  auto* command =
      root.add_subcommand("scaling", "one comparison on several numbers of devices, side by side");
  auto options = std::make_shared<ScalingOptions>();
  command->add_option("FILE", options->files, "result files, or folders of them")->required();
  command->add_option("--format", options->format, "what to print on standard output")
      ->check(CLI::IsMember({"text", "markdown", "json"}))
      ->capture_default_str();
  command->callback([&action, options] { action = [options] { return print_scaling(*options); }; });
}

}  // namespace precbench::cli
