#include "bench/report/printers.h"

namespace precbench {
namespace {

// The result file itself: what `--format json` prints can be saved and loaded.
class JsonPrinter : public Printer {
 public:
  std::string render(const ResultDocument& document, const RenderOptions& options) const override {
    return to_json(document).dump(1, ' ', options.ascii, json::error_handler_t::replace) + "\n";
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
