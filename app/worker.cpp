#include "train/worker.h"

#include <cstdio>
#include <cstdlib>

// Without LibTorch's destructors, which take 60 ms: by now every event has been sent and every file
// closed.
int main() {
  const int exit_code = precbench::train::worker_main();
  std::fflush(nullptr);
  std::_Exit(exit_code);
}
