#include "bench/worker/event_stream.h"

#include "common/json_input.h"
#include "common/limits.h"
#include "common/printable.h"
#include "common/version.h"

namespace precbench {
namespace {

constexpr size_t kQuotedCharacters = 80;  // how much of a broken line an error message shows

std::string excerpt(std::string_view text) {
  std::string shown = printable(text.substr(0, kQuotedCharacters));
  if (text.size() > kQuotedCharacters) shown += "...";
  return "'" + shown + "'";
}

}  // namespace

void EventStream::feed(std::string_view bytes) {
  if (fault_ || finished()) return;
  pending_ += bytes;
  size_t start = 0;
  for (size_t end = pending_.find('\n', searched_); end != std::string::npos && !fault_;
       end = pending_.find('\n', start)) {
    take_line(std::string_view(pending_).substr(start, end - start));
    start = end + 1;
  }
  pending_.erase(0, start);
  searched_ = pending_.size();
  if (!fault_ && pending_.size() > limits::kEventBytes) {
    fault_ = "the worker wrote " + std::to_string(limits::kEventBytes / limits::kMebibyte) +
             " MiB without ending a line";
  }
}

void EventStream::end() {
  if (fault_ || finished() || pending_.empty()) return;
  fault_ = "the worker's output ended in the middle of an event: " + excerpt(pending_);
}

void EventStream::take_line(std::string_view text) {
  if (text.empty() || finished()) return;  // nothing after the result matters
  try {
    take(event_from_json(json_from_text(text)));
  } catch (const JsonLimitError& error) {
    fault_ = std::string("the worker wrote an event that ") + error.what() + ": " + excerpt(text);
  } catch (const json::exception&) {
    fault_ = "the worker wrote a line that is not an event: " + excerpt(text);
  } catch (const JsonFieldError& error) {
    fault_ =
        "the worker wrote a malformed event (" + printable(error.what()) + "): " + excerpt(text);
  }
}

void EventStream::take(const Event& event) {
  if (const auto* hello = std::get_if<HelloEvent>(&event)) {
    check_version(*hello);
    hello_ = *hello;
    if (fault_) return;
  } else if (!hello_) {
    fault_ = "the worker did not say hello first; is PRECBENCH_WORKER a precbench-worker?";
    return;
  }
  if (const auto* result = std::get_if<ResultEvent>(&event)) result_ = *result;
  if (const auto* failed = std::get_if<FailedEvent>(&event)) failed_ = *failed;
  if (on_event_) on_event_(event);
}

void EventStream::check_version(const HelloEvent& hello) {
  if (hello.protocol == kProtocolVersion && hello.version == tool_version()) return;
  refused_ = true;
  fault_ = "the worker is precbench-worker " + printable(hello.version) + " (protocol " +
           std::to_string(hello.protocol) + "), this is precbench " + tool_version() +
           " (protocol " + std::to_string(kProtocolVersion) + "); install both from the same build";
}

}  // namespace precbench
