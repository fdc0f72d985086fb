// Subcommands that the contract names and this version does not have yet: they say so.
#include "cli/commands.h"
#include "common/errors.h"

namespace precbench::cli {
namespace {

void add_later(CLI::App& root, Action& action, const std::string& name, const char* help) {
  root.add_subcommand(name, help)->allow_extras()->callback([&action, name] {
    action = [name]() -> int {
      throw UserError(ExitCode::nothing_ran, "`precbench " + name + "` is not in this version");
    };
  });
}

}  // namespace

void add_predict(CLI::App& root, Action& action) {
  add_later(root, action, "predict", "memory of a training step on a GPU that is not here");
}
}  // namespace precbench::cli
