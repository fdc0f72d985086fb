// What stands on the stack of a pickle of tensors.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "train/data/state_pickle.h"

namespace precbench::train::pickle {

struct None {};
struct Mark {};
// A global name ("torch._utils._rebuild_tensor_v2"): what a REDUCE calls, or the type of a storage.
struct Global {
  std::string name;
};
struct Storage {
  std::string key;
  c10::ScalarType dtype;
};
struct Other {  // a value that is none of ours; nothing is called to make it
  std::string what;
};

struct Value;
using ValuePtr = std::shared_ptr<const Value>;
struct Tuple {
  std::vector<ValuePtr> items;
  int depth;
};
struct Member {
  std::optional<StoredTensor> tensor;
  std::string what;  // it is where it is no tensor
};
// Shared: a pickle names a dictionary before it fills it. Only tensors are kept as members, so that
// nothing nests through it.
struct Dictionary {
  std::shared_ptr<std::map<std::string, Member>> members =
      std::make_shared<std::map<std::string, Member>>();
};

struct Value {
  std::variant<None, Mark, bool, int64_t, std::string, Global, Storage, Tuple, Dictionary,
               StoredTensor, Other>
      is;
};

// As the end of "it holds ..." or "is not a tensor but ...".
std::string what_is(const Value& value);

// ("storage", torch.FloatStorage, key, device, elements) as a storage. Throws StatePickleError.
Storage storage_of(const Value& reference);

// The arguments of torch._utils._rebuild_tensor_v2 as a tensor. Throws StatePickleError.
StoredTensor tensor_of(const std::vector<ValuePtr>& arguments);

// The tensor that torch._utils._rebuild_parameter is given. Throws StatePickleError.
StoredTensor parameter_of(const std::vector<ValuePtr>& arguments);

}  // namespace precbench::train::pickle
