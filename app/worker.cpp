#include "train/worker.h"

int main() { return precbench::train::worker_main(); }
