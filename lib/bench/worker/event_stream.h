// Cuts a worker's output into events. Everything a broken worker can write ends here in a clear
// reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/worker/job_runner.h"

namespace precbench {

class EventStream {
 public:
  explicit EventStream(EventHandler on_event) : on_event_(std::move(on_event)) {}

  // Takes bytes as they come. After a fault further bytes are ignored.
  void feed(std::string_view bytes);
  // The worker's output has ended.
  void end();

  // What is wrong with the stream; nothing as long as it follows the protocol.
  const std::optional<std::string>& fault() const { return fault_; }
  bool refused() const { return refused_; }
  bool finished() const { return result_.has_value() || failed_.has_value(); }
  const std::optional<HelloEvent>& hello() const { return hello_; }
  const std::optional<ResultEvent>& result() const { return result_; }
  const std::optional<FailedEvent>& failed() const { return failed_; }

 private:
  void take_line(std::string_view text);
  void take(const Event& event);
  void check_version(const HelloEvent& hello);

  EventHandler on_event_;
  std::string pending_;
  size_t searched_ = 0;  // bytes of pending_ known to hold no line end
  std::optional<std::string> fault_;
  bool refused_ = false;
  std::optional<HelloEvent> hello_;
  std::optional<ResultEvent> result_;
  std::optional<FailedEvent> failed_;
};

}  // namespace precbench
