#include "bench/report/printers.h"
#include "common/json_text.h"

namespace precbench {
namespace {

// The result file itself: what `--format json` prints can be saved and loaded.
class JsonPrinter : public Printer {
 public:
  std::string render(const ResultDocument& document, const RenderOptions& options) const override {
    return json_text(to_json(document), kJsonIndent, options.ascii) + "\n";
  }
};

class NonePrinter : public Printer {
 public:
  std::string render(const ResultDocument& /*document*/,
                     const RenderOptions& /*options*/) const override {
    return "";
  }
};

}  // namespace

std::unique_ptr<Printer> make_json_printer() { return std::make_unique<JsonPrinter>(); }
std::unique_ptr<Printer> make_none_printer() { return std::make_unique<NonePrinter>(); }

}  // namespace precbench
