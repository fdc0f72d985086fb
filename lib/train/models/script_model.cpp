#include "train/models/script_model.h"

#include <torch/script.h>

#include <optional>
#include <set>

#include "common/errors.h"
#include "train/errors.h"
#include "train/models/traced_module.h"

namespace precbench::train {
namespace {

// TorchScript reports what went wrong below its own stack trace, as "RuntimeError: ...".
std::string last_line(const std::string& message) {
  const size_t end = message.find_last_not_of('\n');
  if (end == std::string::npos) return message;
  const size_t begin = message.rfind('\n', end);
  return message.substr(begin == std::string::npos ? 0 : begin + 1,
                        end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

// The interpreter turns every error into a std::runtime_error; what the worker tells apart is told
// apart again.
[[noreturn]] void rethrow(const std::string& message) {
  const std::string reason = "TorchScript: " + last_line(message);
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  if (says("memory limit") || says("out of memory") || says("not enough memory")) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, reason);
  }
  if (says("not implemented for")) throw UnsupportedError(reason);
  throw std::runtime_error(reason);
}

// A node of the tree by which the module's tensors are found under their Python names. The tensors
// are the script's own: what converts, moves or steps them here does so there.
class ScriptNode : public torch::nn::Module {
 public:
  ScriptNode(const torch::jit::Module& script, std::set<const void*>& seen) {
    mirror(*this, script, seen);
  }

  static void mirror(torch::nn::Module& node, const torch::jit::Module& script,
                     std::set<const void*>& seen) {
    const auto is_new = [&](const torch::Tensor& tensor) {
      return tensor.defined() && seen.insert(tensor.unsafeGetTensorImpl()).second;
    };
    for (const auto& item : script.named_parameters(/*recurse=*/false)) {
      // A tensor of two names is one parameter, as in Python's module.parameters().
      if (is_new(item.value))
        node.register_parameter(item.name, item.value, item.value.requires_grad());
    }
    for (const auto& item : script.named_buffers(/*recurse=*/false)) {
      if (is_new(item.value)) node.register_buffer(item.name, item.value);
    }
    for (const auto& child : script.named_children()) {
      node.register_module(child.name, std::make_shared<ScriptNode>(child.value, seen));
    }
  }
};

class ScriptModel : public Model {
 public:
  explicit ScriptModel(torch::jit::Module script) : script_(std::move(script)) {
    std::set<const void*> seen;
    ScriptNode::mirror(*this, script_, seen);
  }

  void train(bool on) override {
    Model::train(on);
    script_.train(on);
  }

  torch::Tensor forward(const torch::Tensor& input) override {
    const torch::IValue output = call(input);
    if (output.isTensor()) return output.toTensor();
    throw std::invalid_argument("the module returns " + output.tagKind() +
                                "; it has to return the logits, one tensor");
  }

 private:
  torch::IValue call(const torch::Tensor& input) {
    try {
      return script_.forward({input});
    } catch (const c10::NotImplementedError& error) {
      throw UnsupportedError("TorchScript: " + last_line(error.what_without_backtrace()));
    } catch (const c10::Error& error) {
      rethrow(error.what_without_backtrace());
    } catch (const std::runtime_error& error) {
      rethrow(error.what());
    }
  }

  torch::jit::Module script_;
};

torch::jit::Module load_script(const std::string& path) {
  try {
    return torch::jit::load(path, at::kCPU);
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    throw FileError("'" + path + "' is no TorchScript module: " + what.substr(0, what.find('\n')) +
                    "\n       save one with torch.jit.script(model).save(FILE); a state dictionary "
                    "is for --init-weights");
  }
}

}  // namespace

void rethrow_script_error(const std::string& message) {
  if (message.find("TorchScript interpreter") != std::string::npos) rethrow(message);
}

std::unique_ptr<Model> load_script_model(const std::string& path) {
  torch::jit::Module script = load_script(path);
  if (const auto why = cannot_switch(script)) {
    throw UnsupportedError("'" + path + "' " + *why +
                           "; save it with torch.jit.script instead of torch.jit.trace");
  }
  return std::make_unique<ScriptModel>(std::move(script));
}

}  // namespace precbench::train
