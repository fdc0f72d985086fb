// libFuzzer on one target: precbench-fuzz-NAME [corpus folder]. Well-formed inputs to start from:
// precbench-fuzz-NAME with PRECBENCH_WRITE_SEEDS=FOLDER writes them and ends.
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "targets.h"

namespace {

const precbench::fuzz::Target& target() {
  for (const auto& candidate : precbench::fuzz::targets()) {
    if (candidate.name == PRECBENCH_FUZZ_TARGET) return candidate;
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* folder = std::getenv("PRECBENCH_WRITE_SEEDS");
  if (folder == nullptr) return 0;
  int count = 0;
  for (const std::string& seed : target().seeds()) {
    std::ofstream(std::string(folder) + "/seed" + std::to_string(count++), std::ios::binary)
        << seed;
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  target().read({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
