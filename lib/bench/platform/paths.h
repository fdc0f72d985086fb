#pragma once
#include <string>
namespace precbench {
std::string worker_path();
std::string share_dir();
}  // namespace precbench
