#include "train/models/model_options.h"

#include <stdexcept>

#include "common/names.h"

namespace precbench::train {

void check_model_options(const std::string& model, const json& options) {
  const ModelTraits* traits = find_model(model);
  for (const auto& [key, value] : options.items()) {
    if (traits != nullptr && has_option(*traits, key)) continue;
    const std::string allowed =
        traits == nullptr || traits->options.empty() ? "none" : std::string(traits->options);
    throw std::invalid_argument("model " + model + " has no option '" + key + "'; it has " +
                                allowed);
  }
}

int64_t size_option(const json& options, const char* key, int64_t fallback) {
  const auto found = options.find(key);
  if (found == options.end()) return fallback;
  const bool is_size = found->is_number_integer() && found->get<int64_t>() > 0;
  require_fit(is_size, "model option " + std::string(key) + " must be a positive whole number");
  return found->get<int64_t>();
}

void require_fit(bool fits, const std::string& what) {
  if (!fits) throw std::invalid_argument(what);
}

}  // namespace precbench::train
