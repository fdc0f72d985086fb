#include "train/loop/weights.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

#include "common/errors.h"

namespace precbench::train {
namespace {

std::map<std::string, torch::Tensor> state_of(const torch::nn::Module& module) {
  std::map<std::string, torch::Tensor> state;
  for (const auto& item : module.named_parameters()) state[item.key()] = item.value();
  for (const auto& item : module.named_buffers()) {
    if (item.value().defined()) state[item.key()] = item.value();
  }
  return state;
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError("cannot read the weights " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

[[noreturn]] void fail_format(const std::string& path, const std::string& why) {
  throw FileError(path + " is not a state dictionary: " + why +
                  "\n       save one with torch.save(model.state_dict(), FILE)");
}

std::map<std::string, torch::Tensor> read_state(const std::string& path) {
  const std::vector<char> bytes = read_file(path);
  c10::IValue value;
  try {
    value = torch::jit::pickle_load(bytes);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    fail_format(path, what.substr(0, what.find('\n')));
  }
  if (!value.isGenericDict()) fail_format(path, "it holds a " + value.tagKind());
  std::map<std::string, torch::Tensor> state;
  for (const auto& item : value.toGenericDict()) {
    if (!item.key().isString() || !item.value().isTensor()) {
      fail_format(path, "not every member is a name with a tensor");
    }
    state[item.key().toStringRef()] = item.value().toTensor();
  }
  return state;
}

std::string shape_of(const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

// What keeps `state` from fitting the module, as a list for the user; empty when it fits.
std::string misfit(const std::map<std::string, torch::Tensor>& module,
                   const std::map<std::string, torch::Tensor>& state) {
  std::string list;
  for (const auto& [name, tensor] : module) {
    const auto found = state.find(name);
    if (found == state.end()) {
      list += "\n       missing: " + name + " " + shape_of(tensor);
    } else if (found->second.sizes() != tensor.sizes()) {
      list += "\n       " + name + ": the file has " + shape_of(found->second) + ", the model " +
              shape_of(tensor);
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!module.contains(name)) list += "\n       not in the model: " + name;
  }
  return list;
}

}  // namespace

void save_weights(const torch::nn::Module& module, const std::string& path) {
  c10::Dict<std::string, torch::Tensor> dictionary;
  for (const auto& [name, tensor] : state_of(module)) {
    dictionary.insert(name, tensor.detach().cpu().contiguous());
  }
  const std::vector<char> bytes = torch::jit::pickle_save(dictionary);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw FileError("cannot write the weights " + path);
}

void require_writable(const std::string& path) {
  if (!std::ofstream(path, std::ios::binary | std::ios::app)) {
    throw FileError("cannot write the weights " + path);
  }
}

void load_weights(torch::nn::Module& module, const std::string& path) {
  torch::NoGradGuard no_grad;
  const auto target = state_of(module);
  const auto state = read_state(path);
  const std::string problems = misfit(target, state);
  if (!problems.empty()) throw FileError(path + " does not fit the model" + problems);
  for (const auto& [name, tensor] : target) {
    torch::Tensor place = tensor;
    place.copy_(state.at(name));
  }
}

}  // namespace precbench::train
