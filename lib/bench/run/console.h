// The coordinator's two streams: results go to stdout, everything else to stderr. On a terminal one
// live line shows progress; it uses only \r and erase-line, so that notebooks show it too, and
// gives way to other output.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/plan/plan.h"
#include "bench/report/formats.h"

namespace precbench {

class Console {
 public:
  // Throws FileError when the log file cannot be opened.
  explicit Console(const OutputPlan& plan);

  void result(std::string_view text);    // stdout, as it is
  void rendered(std::string_view text);  // a table of ours on stderr, as it is; not with -q

  // On stderr, texts from outside in them made safe and wrapped at words on a terminal; in the log
  // file all of them.
  void info(std::string_view line);     // not with -q
  void detail(std::string_view line);   // with -v only
  void warning(std::string_view text);  // always
  void error(std::string_view text);    // always
  // Of the worker of a mode, or of another job ("describe"):
  void worker_says(const std::string& who, std::string_view line);  // with -v only
  void worker_does(const std::string& who, std::string_view text);  // with -vv only

  // Replaces the live line; only call where has_live_line().
  void live(std::string_view line);
  void clear_live();

  bool has_live_line() const { return has_live_line_; }
  bool shows_progress() const { return shows_progress_; }

 private:
  void log(const std::string& who, spdlog::level::level_enum level, std::string_view text);

  bool quiet_, has_live_line_, shows_progress_;
  std::vector<spdlog::sink_ptr> sinks_;
  bool live_shown_ = false;
};

// "error: ..." on standard error, for what ends the program.
void tell_error(std::string_view kind, std::string_view text);

// How standard output shows a result: ASCII outside of UTF-8 locales, colours, its width.
RenderOptions stdout_options(ColorChoice color = ColorChoice::automatic);

// Whether `stream` (a file descriptor) gets colours: --color, else NO_COLOR and TERM, else whether
// it is a terminal.
bool wants_color(ColorChoice choice, int stream);

}  // namespace precbench
