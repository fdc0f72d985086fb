#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/report/export.h"
#include "common/errors.h"

namespace precbench::cli {

void write_stdout(const std::string& text) {
  const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written != text.size() || std::fflush(stdout) != 0) {
    throw FileError(std::string("cannot write to standard output: ") + std::strerror(errno));
  }
}

RenderOptions stdout_options(const std::string& color) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_wanted = ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
  RenderOptions options;
  options.ascii = !locale_is_utf8();
  options.color = color == "always" || (color == "auto" && is_wanted);
  return options;
}

void ExportFlags::add_to(CLI::App& command) {
  for (const std::string_view format : kExportFormats) {
    const std::string name(format);
    command.add_option("--export-" + name, paths_[name], "write it as " + name + " into a file")
        ->type_name("FILE");
  }
}

std::vector<ExportFile> ExportFlags::files() const {
  std::vector<ExportFile> files;
  for (const auto& [format, path] : paths_) {
    if (!path.empty()) files.push_back({format, path});
  }
  return files;
}

}  // namespace precbench::cli
