#include "bench/run/console.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "bench/files/standard_streams.h"
#include "bench/text/layout.h"
#include "common/errors.h"
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
  const std::string plain = std::string(head) + std::string(text);
  std::string lines = wrapped(plain, columns_for(STDERR_FILENO), kMessageIndent);
  if (!color.empty()) {
    lines = std::string(color) + lines.substr(0, head.size() - 1) + "\x1b[0m" +
            lines.substr(head.size() - 1);
  }
  write_stderr(lines + "\n");
}

// The coordinator has one thread.
class TerminalSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit TerminalSink(bool has_color) : has_color_(has_color) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const std::string who(message.logger_name.data(), message.logger_name.size());
    if (message.level == spdlog::level::err) {
      tell("error: ", has_color_ ? "\x1b[31m" : "", text);
    } else if (message.level == spdlog::level::warn) {
      tell("warning: ", has_color_ ? "\x1b[33m" : "", text);
    } else {
      tell(who.empty() ? "" : who + ": ", "", text);
    }
  }
  void flush_() override {}

  bool has_color_;
};

spdlog::sink_ptr file_sink(const std::string& path) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(path);
    sink->set_level(spdlog::level::trace);
    sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %-7l %-12n %v");
    return sink;
  } catch (const spdlog::spdlog_ex& error) {
    throw FileError("cannot write '" + path + "' (--log-file): " + error.what() +
                    "\n       name a file in a folder that you may write to");
  }
}

}  // namespace

void tell_error(std::string_view kind, std::string_view text) {
  tell(std::string(kind) + ": ", "", printable_message(text));
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

Console::Console(const OutputPlan& plan) : quiet_(plan.quiet) {
  shows_progress_ = plan.progress != ProgressChoice::none && !plan.quiet;
  // A CI log is no terminal even where it pretends to be one.
  has_live_line_ = shows_progress_ && plan.progress == ProgressChoice::automatic &&
                   isatty(STDERR_FILENO) != 0 && !is_set("CI");
  sinks_.push_back(std::make_shared<TerminalSink>(wants_color(plan.color, STDERR_FILENO)));
  sinks_.back()->set_level(plan.events    ? spdlog::level::trace
                           : plan.verbose ? spdlog::level::debug
                           : plan.quiet   ? spdlog::level::warn
                                          : spdlog::level::info);
  if (!plan.log_file.empty()) sinks_.push_back(file_sink(plan.log_file));
}

void Console::result(std::string_view text) {
  clear_live();
  write_stdout(text);
}

void Console::rendered(std::string_view text) {
  clear_live();
  if (!quiet_) write_stderr(text);
}

void Console::info(std::string_view line) { log("", spdlog::level::info, line); }
void Console::detail(std::string_view line) { log("", spdlog::level::debug, line); }
void Console::warning(std::string_view text) { log("", spdlog::level::warn, text); }
void Console::error(std::string_view text) { log("", spdlog::level::err, text); }

void Console::worker_says(const std::string& who, std::string_view line) {
  log(who, spdlog::level::debug, line);
}

void Console::worker_does(const std::string& who, std::string_view text) {
  log(who, spdlog::level::trace, text);
}

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

void Console::log(const std::string& who, spdlog::level::level_enum level, std::string_view text) {
  if (sinks_.front()->should_log(level)) clear_live();
  const std::string safe = printable_message(text);
  const spdlog::details::log_msg message(who, level, safe);
  for (const spdlog::sink_ptr& sink : sinks_) {
    if (!sink->should_log(level)) continue;
    sink->log(message);
    sink->flush();
  }
}

}  // namespace precbench
