#include "train/event_stream.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace precbench::train {

EventStream::EventStream() : descriptor_(dup(STDOUT_FILENO)) {
  if (descriptor_ < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "stdout cannot be kept for events");
  }
}

EventStream::~EventStream() { close(descriptor_); }

void EventStream::send(const Event& event) {
  // Messages of libraries may hold bytes that are not UTF-8; they are replaced, not thrown at the
  // user.
  const std::string line =
      to_json(event).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (size_t written = 0; written < line.size();) {
    const ssize_t count = write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw std::system_error(errno, std::generic_category(), "events cannot be written");
    written += static_cast<size_t>(count);
  }
}

}  // namespace precbench::train
