#include "train/device/architectures.h"

#include <algorithm>
#include <string_view>

namespace precbench::train {

std::vector<std::string> architectures_of(const std::string& config) {
  constexpr std::string_view kCode = "code=";
  std::vector<std::string> names;
  for (size_t at = config.find(kCode); at != std::string::npos; at = config.find(kCode, at + 1)) {
    const size_t start = at + kCode.size();
    const size_t end = config.find_first_of(",;] \n", start);
    const std::string name = config.substr(start, end == std::string::npos ? end : end - start);
    const bool is_architecture = name.rfind("sm_", 0) == 0 || name.rfind("compute_", 0) == 0;
    if (is_architecture && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names;
}

}  // namespace precbench::train
