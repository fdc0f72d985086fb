#include "train/data/tensor_file.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <fstream>

#include "common/errors.h"
#include "train/base/errors.h"
#include "train/data/state_pickle.h"

namespace precbench::train {
namespace {

using caffe2::serialize::PyTorchStreamReader;

// What torch.jit.save writes beside data.pkl, and torch.save does not.
constexpr const char* kScriptRecord = "constants.pkl";

// The tensor in the bytes of its storage. Throws StatePickleError where it reaches outside them.
torch::Tensor tensor_in(const at::DataPtr& bytes, size_t byte_count, const StoredTensor& stored) {
  const auto element_size = static_cast<int64_t>(c10::elementSize(stored.dtype));
  const auto elements = static_cast<int64_t>(byte_count) / element_size;

  const auto& sizes = stored.sizes;
  bool fits = stored.offset >= 0 && sizes.size() == stored.strides.size();
  for (const int64_t size : sizes) fits = fits && size >= 0;
  if (fits && std::count(sizes.begin(), sizes.end(), 0) > 0) {
    return torch::empty(sizes, stored.dtype);
  }
  int64_t last = stored.offset;  // the highest element that the view touches
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    const int64_t size = sizes[i], stride = stored.strides[i];
    fits = stride >= 0 && (size == 1 || stride <= (elements - last) / (size - 1));
    if (fits) last += (size - 1) * stride;
    fits = fits && last < elements;
  }
  if (!fits || last >= elements) throw StatePickleError("a tensor reaches outside its storage");
  char* begin = static_cast<char*>(bytes.get()) + stored.offset * element_size;
  return torch::from_blob(begin, stored.sizes, stored.strides, stored.dtype).clone();
}

std::map<std::string, StoredTensor> stored_tensors(PyTorchStreamReader& archive,
                                                   const std::vector<std::string>& wanted) {
  const auto [pickle, size] = archive.getRecord("data.pkl");
  return parse_state_pickle({static_cast<const char*>(pickle.get()), size}, wanted);
}

}  // namespace

std::map<std::string, torch::Tensor> read_tensors(const std::string& path,
                                                  const std::string& advice,
                                                  const std::vector<std::string>& wanted) {
  if (!std::ifstream(path)) throw FileError("cannot read " + path);
  const auto fail_format = [&](const std::string& why) {
    throw FileError("'" + path + "' is not a dictionary of tensors: " + why + "\n       " + advice);
  };
  try {
    PyTorchStreamReader archive(path);
    if (archive.hasRecord(kScriptRecord)) fail_format("it is a TorchScript module");
    std::map<std::string, torch::Tensor> state;
    for (const auto& [name, stored] : stored_tensors(archive, wanted)) {
      const auto [bytes, byte_count] = archive.getRecord("data/" + stored.storage);
      state[name] = tensor_in(bytes, byte_count, stored);
    }
    return state;
  } catch (const c10::Error& error) {
    fail_format(first_line_of(error));
  } catch (const StatePickleError& error) {
    fail_format(error.what());
  }
  return {};
}

bool is_script_file(const std::string& path) {
  try {
    return PyTorchStreamReader(path).hasRecord(kScriptRecord);
  } catch (const c10::Error&) {
    return false;
  }
}

std::string what_it_holds(const std::string& path) {
  try {
    PyTorchStreamReader archive(path);
    if (!archive.hasRecord("data.pkl")) return "is an archive of another kind";
    stored_tensors(archive, {});
    return "holds a state dictionary: weights without the network";
  } catch (const StatePickleError& error) {
    return std::string("was written by torch.save (") + error.what() + ")";
  } catch (const c10::Error&) {
    return "is a damaged archive";
  }
}

}  // namespace precbench::train
