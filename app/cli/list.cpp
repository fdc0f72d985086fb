#include <fmt/format.h>

#include <memory>

#include "bench/files/standard_streams.h"
#include "bench/plan/config_file.h"
#include "bench/run/list_devices.h"
#include "cli/commands.h"
#include "common/errors.h"
#include "common/modes.h"
#include "common/names.h"
#include "common/printable.h"
#include "common/suggest.h"
#include "data/locate.h"

namespace precbench::cli {
namespace {

template <typename... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
  write_stdout(fmt::format(format, std::forward<Values>(values)...));
}

int list_modes() {
  for (const ModeTraits& mode : kModes) {
    print("{:<27} {:<9} {}; {}\n", mode.name,
          mode.alias.empty() ? "" : fmt::format("({})", mode.alias), mode.summary,
          mode.native_from);
  }
  return 0;
}

int list_models() {
  for (const ModelTraits& model : kModels) {
    print("{:<12} {}\n", model.name, model.summary);
    if (!model.options.empty()) print("{:<12} --model-options: {}\n", "", model.options);
  }
  return 0;
}

int list_datasets() {
  for (const DatasetTraits& dataset : kDatasets) {
    const std::string name(dataset.name);
    std::string where = "needs no files";
    if (name != "synthetic") {
      const auto files = data::find_dataset_files(name, "");
      const bool is_yours =
          name == "bundle" || name == kPython;  // there is no place where it could be found
      where = files      ? "found: " + printable(*files)
              : is_yours ? std::string(dataset.how_to_get)
                         : "not found: " + std::string(dataset.how_to_get);
    }
    print("{:<15} {}\n{:<15} {}\n", name, dataset.summary, "", where);
  }
  return 0;
}

int list_configs_found() {
  for (const ConfigFile& config : list_configs())
    print("{:<15} {}\n", printable(config.name), printable(config.about));
  return 0;
}

struct Listing {
  std::string_view name;
  int (*print)();
};
constexpr Listing kListings[] = {{"modes", list_modes},
                                 {"models", list_models},
                                 {"datasets", list_datasets},
                                 {"devices", print_devices},
                                 {"configs", list_configs_found}};

int list(const std::string& what) {
  std::vector<std::string> names;
  for (const Listing& listing : kListings) {
    if (listing.name == what) return listing.print();
    names.emplace_back(listing.name);
  }
  std::string message = what.empty() ? "list needs to know what" : "cannot list '" + what + "'";
  if (const auto guess = nearest(what, names)) message += "; did you mean '" + *guess + "'?";
  throw UsageError(message + "\n       allowed: " + joined(names));
}

}  // namespace

void add_list(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("list", "what there is, a line each");
  const auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "modes | models | datasets | devices | configs");
  command->callback([&action, what] { action = [what] { return list(*what); }; });
}

}  // namespace precbench::cli
