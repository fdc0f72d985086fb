// Which cards a LibTorch holds kernels for.
#pragma once

#include <string>
#include <vector>

namespace precbench::train {

// From at::show_config(), whose line "NVCC architecture flags:
// -gencode;arch=compute_75,code=sm_75;..." lists them: sm_75 for a card's own code, compute_90 for
// portable code that the driver compiles. Empty when it has no such line.
std::vector<std::string> architectures_of(const std::string& config);

}  // namespace precbench::train
