#include "train/loop/weights.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include <fstream>
#include <map>
#include <sstream>

#include "common/errors.h"
#include "train/loop/state_pickle.h"

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

[[noreturn]] void fail_format(const std::string& path, const std::string& why) {
  throw FileError(path + " is not a state dictionary: " + why +
                  "\n       save one with torch.save(model.state_dict(), FILE)");
}

// The tensor in the bytes of its storage. Throws StatePickleError where it reaches outside them.
torch::Tensor tensor_in(const at::DataPtr& bytes, size_t byte_count, const StoredTensor& stored) {
  const auto element_size = static_cast<int64_t>(c10::elementSize(stored.dtype));
  const auto elements = static_cast<int64_t>(byte_count) / element_size;
  int64_t last = stored.offset;  // the highest element that the view touches
  bool fits = stored.offset >= 0 && stored.sizes.size() == stored.strides.size();
  for (size_t i = 0; fits && i < stored.sizes.size(); ++i) {
    const int64_t size = stored.sizes[i], stride = stored.strides[i];
    fits = size > 0 && stride >= 0 && (size == 1 || stride <= (elements - last) / (size - 1));
    if (fits) last += (size - 1) * stride;
    fits = fits && last < elements;
  }
  if (!fits || last >= elements) throw StatePickleError("a tensor reaches outside its storage");
  char* begin = static_cast<char*>(bytes.get()) + stored.offset * element_size;
  return torch::from_blob(begin, stored.sizes, stored.strides, stored.dtype).clone();
}

std::map<std::string, torch::Tensor> read_state(const std::string& path) {
  if (!std::ifstream(path)) throw FileError("cannot read the weights " + path);
  try {
    caffe2::serialize::PyTorchStreamReader archive(path);
    const auto [pickle, size] = archive.getRecord("data.pkl");
    std::map<std::string, torch::Tensor> state;
    for (const auto& [name, stored] :
         parse_state_pickle({static_cast<const char*>(pickle.get()), size})) {
      const auto [bytes, byte_count] = archive.getRecord("data/" + stored.storage);
      state[name] = tensor_in(bytes, byte_count, stored);
    }
    return state;
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    fail_format(path, what.substr(0, what.find('\n')));
  } catch (const StatePickleError& error) {
    fail_format(path, error.what());
  }
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

// torch::pickle_save without its type tags, which weights_only=True refuses.
void save_weights(const torch::nn::Module& module, const std::string& path) {
  c10::Dict<std::string, torch::Tensor> dictionary;
  for (const auto& [name, tensor] : state_of(module)) {
    dictionary.insert(name, tensor.detach().cpu().contiguous());
  }
  std::string pickle;
  torch::jit::Pickler pickler([&](const char* bytes, size_t size) { pickle.append(bytes, size); },
                              nullptr, nullptr, nullptr, nullptr, /*tag_aggregates=*/false);
  pickler.protocol();
  pickler.pushIValue(dictionary);
  pickler.stop();
  std::ofstream file(path, std::ios::binary);
  caffe2::serialize::PyTorchStreamWriter archive([&](const void* bytes, size_t size) {
    file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    return size;
  });
  archive.writeRecord("data.pkl", pickle.data(), pickle.size());
  size_t index = 0;
  for (const torch::Tensor& tensor : pickler.tensorData()) {
    const auto data = torch::jit::getWriteableTensorData(tensor);
    archive.writeRecord("data/" + std::to_string(index++), data.data(), data.sizeInBytes());
  }
  archive.writeEndOfFile();
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
