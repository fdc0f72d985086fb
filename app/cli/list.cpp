#include <fmt/format.h>

#include <cstdio>

#include "bench/plan/config_file.h"
#include "bench/run/list_devices.h"
#include "cli/commands.h"
#include "common/errors.h"
#include "common/modes.h"
#include "common/names.h"
#include "data/locate.h"

namespace precbench::cli {
namespace {

int list_modes() {
  for (const ModeTraits& mode : kModes) {
    fmt::print("{:<27} {:<9} {}; {}\n", mode.name,
               mode.alias.empty() ? "" : fmt::format("({})", mode.alias), mode.summary,
               mode.native_from);
  }
  return 0;
}

int list_models() {
  for (const ModelTraits& model : kModels) fmt::print("{:<12} {}\n", model.name, model.summary);
  return 0;
}

int list_datasets() {
  for (const DatasetTraits& dataset : kDatasets) {
    const std::string name(dataset.name);
    std::string where = "needs no files";
    if (name != "synthetic") {
      const auto files = data::find_idx_files(name, "");
      where =
          files ? "found: " + files->train_images : "not found: " + std::string(dataset.how_to_get);
    }
    fmt::print("{:<15} {}\n{:<15} {}\n", name, dataset.summary, "", where);
  }
  return 0;
}

int list_configs_found() {
  for (const ConfigFile& config : list_configs())
    fmt::print("{:<15} {}\n", config.name, config.about);
  return 0;
}

}  // namespace

void add_list(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("list", "modes | models | datasets | devices | configs");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, int (*print)()) {
    command->add_subcommand(name, help)->callback([&action, print] { action = print; });
  };
  add("modes", "precision modes", list_modes);
  add("models", "built-in models", list_models);
  add("datasets", "data sets, and where each was found", list_datasets);
  add("devices", "what the worker's LibTorch can run on", print_devices);
  add("configs", "ready-made workloads", list_configs_found);
}

}  // namespace precbench::cli
