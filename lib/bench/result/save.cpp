#include "bench/files/atomic_file.h"
#include "bench/result/document.h"
#include "common/json_text.h"

namespace precbench {

void save_result(const ResultDocument& document, const std::string& path) {
  write_atomically(path, json_text(to_json(document)) + "\n");
}

std::string save_new_result(const ResultDocument& document, const std::string& stem) {
  return create_atomically(stem, json_text(to_json(document)) + "\n");
}

}  // namespace precbench
