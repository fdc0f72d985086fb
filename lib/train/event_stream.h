// The worker's events on the stdout it was started with.
#pragma once

#include "common/event.h"

namespace precbench::train {

class EventStream {
 public:
  // Keeps a copy of fd 1 and points fd 1 at stderr: oneDNN's verbose mode and TorchScript's print
  // write to stdout, which must hold events alone.
  EventStream();
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // One line, written at once. Throws std::system_error where nobody reads any more.
  void send(const Event& event);

 private:
  int descriptor_;
};

}  // namespace precbench::train
