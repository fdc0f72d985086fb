#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench/files/standard_streams.h"
#include "bench/platform/paths.h"
#include "cli/commands.h"
#include "common/errors.h"
#include "common/names.h"
#include "common/printable.h"
#include "common/suggest.h"
#include "data/locate.h"

namespace precbench::cli {
namespace {

std::vector<std::string> fetchable() {
  std::vector<std::string> names;
  for (const DatasetTraits& dataset : kDatasets) {
    if (dataset.can_be_fetched) names.emplace_back(dataset.name);
  }
  return names;
}

// Python fetches: every torch but a bare LibTorch comes with one, and nothing else of precbench
// needs a network library.
int get(const std::string& name, const std::string& source) {
  const std::vector<std::string> names = fetchable();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string message = name.empty() ? "get needs to know what" : "cannot get '" + name + "'";
    if (const auto guess = nearest(name, names)) message += "; did you mean '" + *guess + "'?";
    throw UsageError(message + "\n       allowed: " + joined(names));
  }
  if (const auto there = data::find_dataset_files(name, "")) {
    write_stdout(name + " is here already: " + printable(*there) + "\n");
    return 0;
  }
  const char* named = std::getenv("PRECBENCH_PYTHON");
  std::vector<std::string> words = {named == nullptr || *named == '\0' ? "python3" : named,
                                    "-I",
                                    share_dir() + "/get.py",
                                    name,
                                    "--to",
                                    data::search_folders(name, "").front()};
  if (!source.empty()) words.insert(words.end(), {"--from", source});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execvp(arguments.front(), arguments.data());
  throw FileError("get needs Python, and " + words.front() + " does not start (" +
                  std::strerror(errno) +
                  ")\n       or put the files where it would, by hand: " + words[5]);
}

}  // namespace

void add_get(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("get", "fetch a data set to where it is looked for");
  const auto name = std::make_shared<std::string>();
  const auto source = std::make_shared<std::string>();
  command->add_option("NAME", *name, joined(fetchable(), " | "));
  command->add_option("--from", *source, "URL of a folder that has the same files: a mirror")
      ->type_name("URL");
  command->callback(
      [&action, name, source] { action = [name, source] { return get(*name, *source); }; });
}

}  // namespace precbench::cli
