#include "bench/run/console.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "bench/files/standard_streams.h"
#include "bench/text/layout.h"
#include "common/printable.h"

namespace precbench {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr size_t kMessageIndent = 9;  // of a message's further lines, as wide as "warning: "

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// A message of ours, "warning: " before it, as lines of standard error.
void tell(std::string_view head, std::string_view color, std::string_view text) {
  const std::string plain = std::string(head) + printable_message(text);
  std::string lines = wrapped(plain, columns_for(STDERR_FILENO), kMessageIndent);
  if (!color.empty()) {
    lines = std::string(color) + lines.substr(0, head.size() - 1) + "\x1b[0m" +
            lines.substr(head.size() - 1);
  }
  write_stderr(lines + "\n");
}

}  // namespace

void tell_error(std::string_view kind, std::string_view text) {
  tell(std::string(kind) + ": ", "", text);
}

RenderOptions stdout_options(ColorChoice color) {
  RenderOptions options;
  options.ascii = !locale_is_utf8();
  options.color = wants_color(color, STDOUT_FILENO);
  options.columns = columns_for(STDOUT_FILENO);
  return options;
}

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
  write_stdout(text);
}

void Console::rendered(std::string_view text) {
  clear_live();
  if (!quiet_) write_stderr(text);
}

void Console::info(std::string_view line) {
  if (!quiet_) say("", "", line);
}

void Console::detail(std::string_view line) {
  if (verbose_) say("", "", line);
}

void Console::warning(std::string_view text) { say("warning: ", color_ ? "\x1b[33m" : "", text); }

void Console::error(std::string_view text) { say("error: ", color_ ? "\x1b[31m" : "", text); }

void Console::live(std::string_view line) {
  // One column stays free: a line that fills the terminal would wrap and scroll.
  const std::string text = cut_to(printable(line), columns_for(STDERR_FILENO) - 1);
  write_stderr(std::string(kEraseLine) + text);
  live_shown_ = true;
}

void Console::clear_live() {
  if (!live_shown_) return;
  write_stderr(kEraseLine);
  live_shown_ = false;
}

void Console::say(std::string_view head, std::string_view color, std::string_view text) {
  clear_live();
  tell(head, color, text);
}

}  // namespace precbench
