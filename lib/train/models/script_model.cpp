#include "train/models/script_model.h"

#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <optional>
#include <set>

#include "common/errors.h"
#include "train/base/errors.h"
#include "train/data/tensor_file.h"
#include "train/models/script_passes.h"
#include "train/models/traced_module.h"

namespace precbench::train {
namespace {

// TorchScript reports what went wrong below its own stack trace, as "RuntimeError: ..."; the
// message may go on for pages (which backends have a kernel).
std::string what_failed(const std::string& message) {
  size_t begin = message.rfind("<--- HERE\n");
  if (begin != std::string::npos) {
    // Lines of source code follow, which are indented.
    do {
      begin = message.find('\n', begin) + 1;
    } while (begin > 0 && begin < message.size() && message[begin] == ' ');
  } else if (const size_t error = message.find("Error: "); error != std::string::npos) {
    begin = message.rfind('\n', error) + 1;  // npos + 1 is the message's beginning
  } else {
    begin = 0;
  }
  return message.substr(begin, message.find('\n', begin) - begin);
}

// What PyTorch says of a missing kernel begins so, and goes on with guesses.
std::string advised(const std::string& what) {
  if (what.find("'CUDA' backend") == std::string::npos) return what;
  return "an operator was asked to run on CUDA, where this run is on another device: the module "
         "has a device written into its code (" +
         what.substr(0, what.find(". ")) + ")";
}

// The interpreter turns every error into a std::runtime_error; what the worker tells apart is told
// apart again.
[[noreturn]] void rethrow(const std::string& message) {
  const std::string reason = "TorchScript: " + advised(what_failed(message));
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  if (says("memory limit") || says("out of memory") || says("not enough memory")) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, reason);
  }
  // A dtype for which a kernel is missing, PyTorch's own or oneDNN's.
  if (says("not implemented for") || says("could not create a primitive"))
    throw UnsupportedError(reason);
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
    // The optimizer takes gradients by formulas of its own, to which autocast is unknown, and would
    // make other operations of the module after its first passes.
    const torch::jit::GraphOptimizerEnabledGuard no_optimizer(false);
    try {
      return script_.forward({input});
    } catch (const c10::NotImplementedError& error) {
      throw UnsupportedError("TorchScript: " + advised(what_failed(message_of(error))));
    } catch (const c10::Error& error) {
      rethrow(message_of(error));
    } catch (const std::runtime_error& error) {
      rethrow(error.what());
    }
  }

  torch::jit::Module script_;
};

torch::jit::Module load_script(const std::string& path) {
  if (!is_script_file(path)) {
    throw FileError("'" + path + "' is no TorchScript module: it " + what_it_holds(path) +
                    "\n       save one with torch.jit.script(model).save(FILE); a state dictionary "
                    "is for --init-weights");
  }
  try {
    return torch::jit::load(path, at::kCPU);
  } catch (const std::exception& error) {  // an ErrorReport of the compiler is no c10::Error
    const std::string what = message_of(error);
    if (const size_t unknown = what.find("Unknown builtin op"); unknown != std::string::npos) {
      throw FileError("'" + path + "' needs an operator that this LibTorch lacks: " +
                      what.substr(unknown, what.find('\n', unknown) - unknown) +
                      "\n       operators of other libraries (torchvision.ops, ...) are not here: "
                      "write the module with PyTorch's own");
    }
    throw FileError("'" + path +
                    "' cannot be read as a TorchScript module: " + first_line_of(error) +
                    "\n       save it again with torch.jit.script(model).save(FILE)");
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
  compute_as_eager_modules(script);
  return std::make_unique<ScriptModel>(std::move(script));
}

}  // namespace precbench::train
