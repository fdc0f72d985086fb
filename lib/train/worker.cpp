#include "train/worker.h"

namespace precbench::train {

int worker_main() { return 2; }

}  // namespace precbench::train
