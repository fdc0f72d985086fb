// "precbench 0.1.0 · Tesla T4 (7.5, 14.6 GiB) · LibTorch 2.8.0, CUDA 12.6", from what a document
// knows; and its workload in one line.
#pragma once

#include <string>

#include "bench/result/document.h"

namespace precbench {

std::string machine_line(const ResultDocument& document);

// "batch 128"; "2 devices, batch 128 (global 256)"
std::string batch_words(int64_t batch_size, int64_t devices);

// What several devices mean for the figures; empty where there was one.
std::string devices_note(const ResultDocument& document);

// "cnn, fashion-mnist, batch 128, sgd, 1 epoch"; empty when the document knows none of it.
std::string workload_line(const ResultDocument& document);

// "Tesla T4", or the CPU's model.
std::string device_name(const ResultDocument& document);

}  // namespace precbench
