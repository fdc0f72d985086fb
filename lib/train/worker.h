// The worker process: reads one job from stdin, does it, and reports events on its first stdout.
#pragma once

namespace precbench::train {

// Returns the process's exit code: 0 when a result or a failed event was sent, 2 when the job could
// not be read.
int worker_main();

}  // namespace precbench::train
