#include "train/models/script_passes.h"

#include <torch/csrc/jit/passes/autocast.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace precbench::train {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;

// Each stands in a branch of its own; the other branch computes with plain operations. Nested
// tensors are for these operations alone.
constexpr std::array<std::string_view, 3> kOfEvaluationAlone = {
    "aten::_transformer_encoder_layer_fwd", "aten::_native_multi_head_attention",
    "aten::_nested_tensor_from_mask"};

// Asks a mask's values whether nested tensors could take its place.
constexpr std::string_view kAsksForNested = "aten::_nested_tensor_from_mask_left_aligned";

void find_fused(Block& block, std::vector<Node*>& found) {
  for (Node* node : block.nodes()) {
    const std::string_view kind = node->kind().toQualString();
    if (std::find(kOfEvaluationAlone.begin(), kOfEvaluationAlone.end(), kind) !=
            kOfEvaluationAlone.end() ||
        kind == kAsksForNested) {
      found.push_back(node);
    }
    for (Block* inner : node->blocks()) find_fused(*inner, found);
  }
}

void answer_no(Graph& graph, Node& question) {
  const torch::jit::WithInsertPoint before(&question);
  question.output()->replaceAllUsesWith(graph.insertConstant(false));
  question.destroy();
}

// The innermost condition that leads to `node` gets the value that leads past it.
void lead_past(Graph& graph, Node& node) {
  Block* block = node.owningBlock();
  Node* owner = block->owningNode();
  while (owner != nullptr && owner->kind() != c10::prim::If) {
    block = owner->owningBlock();
    owner = block->owningNode();
  }
  if (owner == nullptr) return;
  const bool is_where_true = owner->blocks()[0] == block;
  const torch::jit::WithInsertPoint before(owner);
  owner->replaceInput(0, graph.insertConstant(!is_where_true));
}

}  // namespace

void compute_as_eager_modules(const torch::jit::Module& module) {
  torch::jit::setAutocastMode(false);
  for (const torch::jit::Module& each : module.modules()) {
    for (const torch::jit::Method& method : each.get_methods()) {
      const auto graph = method.graph();
      std::vector<Node*> fused;
      find_fused(*graph->block(), fused);
      for (Node* node : fused) {
        const std::string_view kind = node->kind().toQualString();
        kind == kAsksForNested ? answer_no(*graph, *node) : lead_past(*graph, *node);
      }
    }
  }
}

}  // namespace precbench::train
