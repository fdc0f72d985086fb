#include "bench/report/formats.h"
#include "common/json_text.h"

namespace precbench {

std::string json_of_result(const ResultDocument& document, const RenderOptions& options) {
  return json_text(to_json(document), kJsonIndent, options.ascii) + "\n";
}

}  // namespace precbench
