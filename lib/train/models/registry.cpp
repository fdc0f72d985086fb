#include "train/models/registry.h"

#include <map>

#include "train/base/errors.h"
#include "train/models/model_options.h"

namespace precbench::train {
namespace {

// A function's static: registrations run before main, in no fixed order.
std::map<std::string, ModelFactory, std::less<>>& factories() {
  static std::map<std::string, ModelFactory, std::less<>> factories;
  return factories;
}

}  // namespace

ModelRegistration::ModelRegistration(std::string_view name, ModelFactory make) {
  factories().emplace(name, make);
}

std::unique_ptr<Model> make_model(const std::string& name, const SampleShape& shape,
                                  const json& options, GemmBackend gemm) {
  const auto found = factories().find(name);
  if (found == factories().end()) {
    throw UnsupportedError("model '" + name + "' is not in this version");
  }
  check_model_options(name, options);
  return found->second(shape, options, gemm);
}

}  // namespace precbench::train
