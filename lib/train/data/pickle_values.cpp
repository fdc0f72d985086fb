#include "train/data/pickle_values.h"

#include <array>
#include <string_view>
#include <utility>

#include "common/limits.h"

namespace precbench::train::pickle {
namespace {

constexpr std::array<std::pair<std::string_view, c10::ScalarType>, 10> kStorages = {{
    {"torch.FloatStorage", at::kFloat},
    {"torch.DoubleStorage", at::kDouble},
    {"torch.HalfStorage", at::kHalf},
    {"torch.BFloat16Storage", at::kBFloat16},
    {"torch.LongStorage", at::kLong},
    {"torch.IntStorage", at::kInt},
    {"torch.ShortStorage", at::kShort},
    {"torch.CharStorage", at::kChar},
    {"torch.ByteStorage", at::kByte},
    {"torch.BoolStorage", at::kBool},
}};

template <typename T>
const T& expect(const std::vector<ValuePtr>& items, size_t index, const char* what) {
  const T* value = index < items.size() ? std::get_if<T>(&items[index]->is) : nullptr;
  if (value == nullptr) throw StatePickleError(std::string("a tensor lacks its ") + what);
  return *value;
}

std::vector<int64_t> integers(const Tuple& tuple) {
  if (tuple.items.size() > limits::kTensorDimensions) {
    throw StatePickleError("a tensor has " + std::to_string(tuple.items.size()) +
                           " dimensions; at most " + std::to_string(limits::kTensorDimensions) +
                           " are read");
  }
  std::vector<int64_t> values;
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    values.push_back(expect<int64_t>(tuple.items, i, "shape"));
  }
  return values;
}

// A view whose numbers are still to be negated or conjugated (x.imag of a conjugate) says so
// last.
void refuse_unresolved(const std::vector<ValuePtr>& items) {
  constexpr size_t kBits = 6;
  const auto* bits = items.size() > kBits ? std::get_if<Dictionary>(&items[kBits]->is) : nullptr;
  if (bits != nullptr && !bits->members->empty()) {
    throw StatePickleError("a tensor is a negated or conjugated view: save x.clone()");
  }
}

}  // namespace

std::string what_is(const Value& value) {
  if (std::holds_alternative<Dictionary>(value.is)) return "a dictionary";
  if (std::holds_alternative<std::string>(value.is)) return "text";
  if (std::holds_alternative<int64_t>(value.is)) return "a number";
  if (const auto* other = std::get_if<Other>(&value.is)) return other->what;
  return "another value";
}

Storage storage_of(const Value& reference) {
  const auto* tuple = std::get_if<Tuple>(&reference.is);
  if (tuple == nullptr) throw StatePickleError("a storage is not described");
  const auto& type = expect<Global>(tuple->items, 1, "storage type").name;
  const auto& key = expect<std::string>(tuple->items, 2, "storage");
  for (const auto& [name, dtype] : kStorages) {
    if (name == type) return {key, dtype};
  }
  throw StatePickleError("a tensor is of type " + type);
}

StoredTensor tensor_of(const std::vector<ValuePtr>& arguments) {
  refuse_unresolved(arguments);
  const auto& from = expect<Storage>(arguments, 0, "storage");
  return {from.key, from.dtype, expect<int64_t>(arguments, 1, "offset"),
          integers(expect<Tuple>(arguments, 2, "sizes")),
          integers(expect<Tuple>(arguments, 3, "strides"))};
}

StoredTensor parameter_of(const std::vector<ValuePtr>& arguments) {
  return expect<StoredTensor>(arguments, 0, "data");
}

}  // namespace precbench::train::pickle
