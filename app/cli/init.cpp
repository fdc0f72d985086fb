// `precbench init`: an example of a model and data of one's own.
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "bench/files/atomic_file.h"
#include "bench/files/standard_streams.h"
#include "bench/platform/paths.h"
#include "cli/commands.h"
#include "common/errors.h"

namespace precbench::cli {
namespace {

std::string example() {
  const std::string path = share_dir() + "/precbench_fabric/example.py";
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw FileError("'" + path + "' cannot be read: install precbench again");
  return text.str();
}

int write_example(const std::string& path) {
  if (!path.ends_with(".py")) throw UsageError("init: '" + path + "' does not end in .py");
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    throw FileError("'" + path + "' exists already: name another file");
  }
  std::string text = example();
  // Its own name in what it tells to run; others than these would have to be quoted there.
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
  const bool is_plain = path.find_first_not_of(kPlain) == std::string::npos;
  for (size_t at = text.find("model.py"); is_plain && at != std::string::npos;
       at = text.find("model.py", at + path.size())) {
    text.replace(at, std::string_view("model.py").size(), path);
  }
  write_atomically(path, text);
  write_stdout("wrote " + path + "; now:\n    precbench --model " + path + ":net --dataset " +
               path + ":data\n");
  return 0;
}

}  // namespace

void add_init(CLI::App& root, Action& action) {
  auto* command = root.add_subcommand("init", "write an example of a model of your own, in Python");
  const auto path = std::make_shared<std::string>("model.py");
  command->add_option("FILE", *path, "the file to write (model.py)");
  command->callback([&action, path] { action = [path] { return write_example(*path); }; });
}

}  // namespace precbench::cli
