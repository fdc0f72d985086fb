#include "bench/run/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/printable.h"

namespace precbench {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr int kDefaultColumns = 80;  // where the terminal does not tell its width

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

size_t terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return static_cast<size_t>(known ? size.ws_col : kDefaultColumns);
}

void write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

bool wants_color(ColorChoice choice, int stream) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (is_set("NO_COLOR") || !is_set("TERM") || std::string_view(std::getenv("TERM")) == "dumb")
    return false;
  return isatty(stream) != 0;
}

Console::Console(const OutputPlan& plan)
    : quiet_(plan.quiet), verbose_(plan.verbose), color_(wants_color(plan.color, STDERR_FILENO)) {
  shows_progress_ = plan.progress != ProgressChoice::none && !plan.quiet;
  // A CI log is no terminal even where it pretends to be one.
  has_live_line_ = shows_progress_ && plan.progress == ProgressChoice::automatic &&
                   isatty(STDERR_FILENO) != 0 && !is_set("CI");
}

void Console::result(std::string_view text) {
  clear_live();
  write(stdout, text);
}

void Console::info(std::string_view line) {
  if (!quiet_) write_error_stream(std::string(line) + "\n");
}

void Console::detail(std::string_view line) {
  if (verbose_) write_error_stream(std::string(line) + "\n");
}

void Console::warning(std::string_view text) {
  write_error_stream((color_ ? "\x1b[33mwarning:\x1b[0m " : "warning: ") + std::string(text) +
                     "\n");
}

void Console::error(std::string_view text) {
  write_error_stream((color_ ? "\x1b[31merror:\x1b[0m " : "error: ") + std::string(text) + "\n");
}

void Console::live(std::string_view line) {
  // One column stays free: a line that fills the terminal would wrap and scroll.
  std::string text = printable(line);
  const size_t columns = terminal_columns();
  if (text.size() >= columns) text.resize(columns - 1);
  write(stderr, std::string(kEraseLine) + text);
  live_shown_ = true;
}

void Console::clear_live() {
  if (!live_shown_) return;
  write(stderr, kEraseLine);
  live_shown_ = false;
}

void Console::write_error_stream(std::string_view text) {
  clear_live();
  write(stderr, text);
}

}  // namespace precbench
