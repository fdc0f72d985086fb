#include "bench/plan/strangers.h"

#include <filesystem>

#include "bench/plan/options.h"
#include "bench/report/formats.h"
#include "common/names.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

bool is_inside(const std::string& path, const std::string& folder) {
  std::error_code ignored;
  const fs::path inner =
      fs::weakly_canonical(path, ignored).lexically_relative(fs::weakly_canonical(folder, ignored));
  return !inner.empty() && *inner.begin() != "..";
}

bool is_of_config(const ResolvedOptions& options, const std::string& name) {
  return options.has(name) && options.at(name).source == Source::config;
}

}  // namespace

std::vector<std::string> doings_of_config(const ResolvedOptions& options) {
  std::vector<std::string> doings;
  std::vector<std::string> outputs = {"save-weights", "dump-trace", "log-file"};
  for (const std::string& format : export_names()) outputs.push_back("export-" + format);
  for (const std::string& name : outputs) {
    if (!is_of_config(options, name)) continue;
    const std::string path = options.text(name);
    if (path.empty() || is_inside(path, options.text("results-dir"))) continue;
    doings.push_back(options.at(name).where + " writes " + path);
  }
  if (is_of_config(options, "results-dir") && !is_inside(options.text("results-dir"), ".")) {
    doings.push_back(options.at("results-dir").where + " writes " + options.text("results-dir"));
  }
  for (const char* name : {"model", "dataset"}) {
    if (!is_of_config(options, name)) continue;
    const std::string text = options.text(name);
    const bool is_program = text.find(".py:") != std::string::npos ||
                            (std::string_view(name) == "model" && text.ends_with(".pt"));
    if (is_program) doings.push_back(options.at(name).where + " runs the program " + text);
  }
  return doings;
}

}  // namespace precbench
