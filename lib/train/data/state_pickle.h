// Reads the pickle inside a PyTorch weights file (data.pkl) as far as a state dictionary needs:
// names with tensors, each tensor a view of a numbered storage. Nothing is executed; anything else
// is refused, as by Python's torch.load(weights_only=True). torch::pickle_load cannot take its
// place: it drops OrderedDict, which is what state_dict() returns.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace precbench::train {

// What is not a state dictionary; what() says what was found instead.
class StatePickleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A tensor's place: elements of `dtype` in the archive's record data/<storage>.
struct StoredTensor {
  std::string storage;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  int64_t offset = 0;  // elements
  std::vector<int64_t> sizes, strides;
};

// Of the members named in `wanted`, where they are there; without names of all, which have to be
// tensors then.
std::map<std::string, StoredTensor> parse_state_pickle(std::string_view pickle,
                                                       const std::vector<std::string>& wanted = {});

}  // namespace precbench::train
