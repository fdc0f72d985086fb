// What can be known to be wrong before the first worker starts: folders that cannot be written.
// (The data set is checked by data/load.h, the baseline by its loader.)
#pragma once

#include "bench/plan/plan.h"

namespace precbench {

// Creates the results directory if need be and writes a probe file into it; the folders of export
// files must be writable too. Throws FileError (exit code 5) naming the folder and the system's
// reason.
void check_writable(const Plan& plan);

}  // namespace precbench
