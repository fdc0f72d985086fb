#include "train/models/traced_module.h"

#include <array>
#include <string_view>

namespace precbench::train {
namespace {

// Operations that do another thing in training than in evaluation, with the input that says which.
struct Switched {
  std::string_view operation;
  std::string_view input;
};

constexpr std::array<Switched, 12> kSwitched = {{
    {"aten::batch_norm", "training"},
    {"aten::native_batch_norm", "training"},
    {"aten::cudnn_batch_norm", "training"},
    {"aten::_batch_norm_impl_index", "training"},
    {"aten::dropout", "train"},
    {"aten::dropout_", "train"},
    {"aten::native_dropout", "train"},
    {"aten::feature_dropout", "train"},
    {"aten::feature_dropout_", "train"},
    {"aten::alpha_dropout", "train"},
    {"aten::alpha_dropout_", "train"},
    {"aten::feature_alpha_dropout", "train"},
}};

using torch::jit::Node;
using torch::jit::Value;

const Value* input_named(const Node& node, std::string_view name) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return nullptr;
  const auto place = schema->argumentIndexWithName(name);
  return place ? node.input(static_cast<size_t>(*place)) : nullptr;
}

bool is_constant(const Value* value) {
  return value != nullptr && value->node()->kind() == c10::prim::Constant;
}

// Dropout of nothing, as timm's models have it, is the same in both.
bool drops_nothing(const Node& node) {
  const Value* probability = input_named(node, "p");
  if (!is_constant(probability)) return false;
  const auto constant = torch::jit::toIValue(probability);
  return constant && constant->isDouble() && constant->toDouble() == 0.0;
}

// Scripting reads the flag from the module (self.training), tracing writes down what it was.
std::optional<std::string> fixed_operation(const torch::jit::Block& block) {
  for (const Node* node : block.nodes()) {
    const std::string_view kind = node->kind().toQualString();
    for (const Switched& switched : kSwitched) {
      if (kind == switched.operation && is_constant(input_named(*node, switched.input)) &&
          !drops_nothing(*node)) {
        return std::string(kind.substr(kind.find("::") + 2));
      }
    }
    for (const torch::jit::Block* inner : node->blocks()) {
      if (auto found = fixed_operation(*inner)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> cannot_switch(const torch::jit::Module& module) {
  for (const torch::jit::Module& each : module.modules()) {
    for (const torch::jit::Method& method : each.get_methods()) {
      if (const auto operation = fixed_operation(*method.graph()->block())) {
        return "is a traced module with " + *operation +
               ", whose behaviour in training or evaluation tracing has written down for good: "
               "train() and eval() would not change it";
      }
    }
  }
  return std::nullopt;
}

}  // namespace precbench::train
