#include "train/loop/tensor_file.h"

#include <caffe2/serialize/inline_container.h>

#include <fstream>

#include "common/errors.h"
#include "train/loop/state_pickle.h"

namespace precbench::train {
namespace {

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

}  // namespace

std::map<std::string, torch::Tensor> read_tensors(const std::string& path,
                                                  const std::string& advice) {
  if (!std::ifstream(path)) throw FileError("cannot read " + path);
  const auto fail_format = [&](const std::string& why) {
    throw FileError(path + " is not a state dictionary: " + why + "\n       " + advice);
  };
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
    fail_format(what.substr(0, what.find('\n')));
  } catch (const StatePickleError& error) {
    fail_format(error.what());
  }
  return {};
}

}  // namespace precbench::train
