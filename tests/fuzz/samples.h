// Small well-formed files of the formats that are read.
#pragma once

#include <string>

namespace precbench::fuzz {

std::string sample_idx_images();  // 3 images of 2 x 4
std::string sample_idx_labels();  // 3 labels below 10
std::string sample_cifar_tar();   // CIFAR-10, one record in each of its six files
std::string gzipped(const std::string& bytes);

}  // namespace precbench::fuzz
