// "precbench 0.1.0 · Tesla T4 (7.5, 14.6 GiB) · LibTorch 2.8.0, CUDA 12.6", from what a document
// knows; and its workload in one line.
#pragma once

#include <string>

#include "bench/result/document.h"

namespace precbench {

std::string machine_line(const ResultDocument& document);

// "cnn, fashion-mnist, batch 128, sgd, 1 epoch"; empty when the document knows none of it.
std::string workload_line(const ResultDocument& document);

// "Tesla T4", or the CPU's model.
std::string device_name(const ResultDocument& document);

}  // namespace precbench
