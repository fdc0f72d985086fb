#include "common/names.h"

namespace precbench {
namespace {

template <typename Table>
auto find_row(const Table& table, std::string_view name) -> decltype(table.data()) {
  for (const auto& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

const ModelTraits* find_model(std::string_view name) { return find_row(kModels, name); }
const DatasetTraits* find_dataset(std::string_view name) { return find_row(kDatasets, name); }
const OptimizerTraits* find_optimizer(std::string_view name) { return find_row(kOptimizers, name); }

bool has_option(const ModelTraits& model, std::string_view option) {
  std::string_view rest = model.options;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word == option) return true;
    rest.remove_prefix(word.size() < rest.size() ? word.size() + 1 : rest.size());
  }
  return false;
}

}  // namespace precbench
