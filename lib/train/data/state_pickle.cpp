#include "train/data/state_pickle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

namespace precbench::train {
namespace {

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

constexpr int kDeepest = 16;  // tuples in tuples; a tensor needs two

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

// As the end of "it holds ..." or "is not a tensor but ...".
std::string what_is(const Value& value) {
  if (std::holds_alternative<Dictionary>(value.is)) return "a dictionary";
  if (std::holds_alternative<std::string>(value.is)) return "text";
  if (std::holds_alternative<int64_t>(value.is)) return "a number";
  if (const auto* other = std::get_if<Other>(&value.is)) return other->what;
  return "another value";
}

// The pickle machine (Python's pickletools documents the operations) for protocols 1 to 5, as
// torch.save's pickle_protocol may say.
class Machine {
 public:
  explicit Machine(std::string_view pickle) : rest_(pickle) {}

  std::map<std::string, StoredTensor> run(const std::vector<std::string>& wanted) {
    while (!step()) {
    }
    const ValuePtr top = pop();
    const auto* dictionary = std::get_if<Dictionary>(&top->is);
    if (dictionary == nullptr) {
      throw StatePickleError("it does not hold a dictionary; it holds " + what_is(*top));
    }
    std::map<std::string, StoredTensor> state;
    for (const auto& [name, member] : *dictionary->members) {
      const bool is_wanted =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
      if (!is_wanted) continue;
      if (!member.tensor) {
        throw StatePickleError("member '" + name + "' is not a tensor but " + member.what);
      }
      state[name] = *member.tensor;
    }
    return state;
  }

 private:
  // Does one operation; true after the last.
  bool step() {
    const char operation = take(1)[0];
    switch (operation) {
      case '\x80':  // PROTO
        take(1);
        break;
      case '(':  // MARK
        push(Mark{});
        break;
      case '.':  // STOP
        return true;
      case 'N':  // NONE
        push(None{});
        break;
      case '\x88':  // NEWTRUE
      case '\x89':  // NEWFALSE
        push(operation == '\x88');
        break;
      case 'I':  // INT: a number, or 00 and 01
      case 'L':  // LONG
        push(decimal_integer());
        break;
      case 'F':  // FLOAT
        line();
        push(Other{"a number"});
        break;
      case 'J':  // BININT
        push(static_cast<int64_t>(static_cast<int32_t>(number(4))));
        break;
      case 'K':  // BININT1
        push(static_cast<int64_t>(number(1)));
        break;
      case 'M':  // BININT2
        push(static_cast<int64_t>(number(2)));
        break;
      case '\x8a':  // LONG1
        push(long_integer(number(1)));
        break;
      case '\x8b':  // LONG4
        push(long_integer(number(4)));
        break;
      case 'G':  // BINFLOAT
        take(8);
        push(Other{"a number"});
        break;
      case 'U':     // SHORT_BINSTRING, of Python 2
      case '\x8c':  // SHORT_BINUNICODE
        push(std::string(take(number(1))));
        break;
      case 'T':  // BINSTRING
      case 'X':  // BINUNICODE
        push(std::string(take(number(4))));
        break;
      case '\x8d':  // BINUNICODE8
        push(std::string(take(number(8))));
        break;
      case 'C':  // SHORT_BINBYTES
        skip_bytes(1);
        break;
      case 'B':  // BINBYTES
        skip_bytes(4);
        break;
      case '\x8e':  // BINBYTES8
      case '\x96':  // BYTEARRAY8
        skip_bytes(8);
        break;
      case 'c':  // GLOBAL
        push(global());
        break;
      case '\x93':  // STACK_GLOBAL
        push(stack_global());
        break;
      case '\x95':  // FRAME
        take(8);
        break;
      case '\x94':  // MEMOIZE
        memo_[memo_.size()] = top();
        break;
      case '}':  // EMPTY_DICT
        push(Dictionary{});
        break;
      case ')':  // EMPTY_TUPLE
        push_tuple({});
        break;
      case '\x85':  // TUPLE1
      case '\x86':  // TUPLE2
      case '\x87':  // TUPLE3
        push_tuple(pop_many(static_cast<size_t>(operation - '\x85') + 1));
        break;
      case 't':  // TUPLE
        push_tuple(pop_to_mark());
        break;
      case ']':  // EMPTY_LIST: of no use here, but legal beside tensors
        push(Other{"a list"});
        break;
      case '\x8f':  // EMPTY_SET
        push(Other{"a set"});
        break;
      case 'a':  // APPEND
      case '0':  // POP
        pop();
        break;
      case 'e':     // APPENDS
      case '\x90':  // ADDITEMS
      case '1':     // POP_MARK
        pop_to_mark();
        break;
      case '2':  // DUP
        stack_.push_back(top());
        break;
      case '\x81':  // NEWOBJ
        make_object();
        break;
      case 'q':  // BINPUT
        memo_[number(1)] = top();
        break;
      case 'r':  // LONG_BINPUT
        memo_[number(4)] = top();
        break;
      case 'h':  // BINGET
        recall(number(1));
        break;
      case 'j':  // LONG_BINGET
        recall(number(4));
        break;
      case 's':  // SETITEM
        set_items(pop_many(2));
        break;
      case 'u':  // SETITEMS
        set_items(pop_to_mark());
        break;
      case 'Q':  // BINPERSID
        push(storage(pop()));
        break;
      case 'R':  // REDUCE
        reduce();
        break;
      case 'b':  // BUILD: attributes of the dictionary (_metadata)
        pop();
        break;
      default:
        throw StatePickleError("its pickle has the operation " +
                               std::to_string(static_cast<unsigned char>(operation)));
    }
    return false;
  }

  std::string_view take(size_t count) {
    if (count > rest_.size()) throw StatePickleError("its pickle is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  // Little endian.
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    const std::string_view taken = take(bytes);
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[i]);
    return value;
  }

  void skip_bytes(size_t bytes_of_length) {
    take(number(bytes_of_length));
    push(Other{"bytes"});
  }

  // A trailing L is Python 2's.
  int64_t decimal_integer() {
    const std::string_view text = line();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    if (error != std::errc() || (end != text.end() && *end != 'L')) {
      throw StatePickleError("it has a number that is none");
    }
    return value;
  }

  int64_t long_integer(size_t bytes) {
    const std::string_view taken = take(bytes);
    if (bytes > sizeof(int64_t)) throw StatePickleError("it has a number of over 64 bits");
    uint64_t value = bytes > 0 && (taken[bytes - 1] & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[i]);
    return static_cast<int64_t>(value);
  }

  std::string_view line() {
    const size_t end = rest_.find('\n');
    const std::string_view text = take(end == std::string_view::npos ? rest_.size() + 1 : end);
    take(1);
    return text;
  }

  Global global() {
    std::string name(line());
    name += '.';
    name += line();
    return {std::move(name)};
  }

  Global stack_global() {
    const ValuePtr name = pop(), module = pop();
    const auto* of = std::get_if<std::string>(&module->is);
    const auto* what = std::get_if<std::string>(&name->is);
    if (of == nullptr || what == nullptr)
      throw StatePickleError("its pickle names what is no text");
    return {*of + "." + *what};
  }

  // Not made: what it is of is all that anyone needs to know.
  void make_object() {
    pop();
    const ValuePtr type = pop();
    const auto* name = std::get_if<Global>(&type->is);
    push(Other{name == nullptr ? "an object" : "a " + name->name});
  }

  template <typename T>
  void push(T value) {
    stack_.push_back(std::make_shared<const Value>(Value{std::move(value)}));
  }

  void push_tuple(std::vector<ValuePtr> items) {
    int depth = 1;
    for (const ValuePtr& item : items) {
      if (const auto* tuple = std::get_if<Tuple>(&item->is)) {
        depth = std::max(depth, tuple->depth + 1);
      }
    }
    if (depth > kDeepest) throw StatePickleError("its tuples are nested too deeply");
    push(Tuple{std::move(items), depth});
  }

  const ValuePtr& top() const {
    if (stack_.empty()) throw StatePickleError("its pickle takes a value that is not there");
    return stack_.back();
  }

  ValuePtr pop() {
    ValuePtr value = top();
    stack_.pop_back();
    return value;
  }

  std::vector<ValuePtr> pop_many(size_t count) {
    std::vector<ValuePtr> values(count);
    while (count-- > 0) values[count] = pop();
    return values;
  }

  std::vector<ValuePtr> pop_to_mark() {
    size_t mark = stack_.size();
    while (mark > 0 && !std::holds_alternative<Mark>(stack_[mark - 1]->is)) --mark;
    if (mark == 0) throw StatePickleError("its pickle lacks a mark");
    std::vector<ValuePtr> values(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return values;
  }

  void recall(uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) throw StatePickleError("its pickle recalls what it never stored");
    stack_.push_back(found->second);
  }

  void set_items(const std::vector<ValuePtr>& pairs) {
    if (std::holds_alternative<Other>(top()->is)) return;
    const auto* dictionary = std::get_if<Dictionary>(&top()->is);
    if (dictionary == nullptr) throw StatePickleError("its pickle fills what is no dictionary");
    if (pairs.size() % 2 != 0) throw StatePickleError("a name lacks its value");
    for (size_t i = 0; i < pairs.size(); i += 2) {
      const auto* name = std::get_if<std::string>(&pairs[i]->is);
      if (name == nullptr) continue;  // in a dictionary beside the tensors
      const auto* tensor = std::get_if<StoredTensor>(&pairs[i + 1]->is);
      (*dictionary->members)[*name] =
          tensor ? Member{*tensor, ""} : Member{std::nullopt, what_is(*pairs[i + 1])};
    }
  }

  template <typename T>
  static const T& expect(const std::vector<ValuePtr>& items, size_t index, const char* what) {
    const T* value = index < items.size() ? std::get_if<T>(&items[index]->is) : nullptr;
    if (value == nullptr) throw StatePickleError(std::string("a tensor lacks its ") + what);
    return *value;
  }

  // ("storage", torch.FloatStorage, key, device, elements)
  static Storage storage(const ValuePtr& reference) {
    const auto* tuple = std::get_if<Tuple>(&reference->is);
    if (tuple == nullptr) throw StatePickleError("a storage is not described");
    const auto& type = expect<Global>(tuple->items, 1, "storage type").name;
    const auto& key = expect<std::string>(tuple->items, 2, "storage");
    for (const auto& [name, dtype] : kStorages) {
      if (name == type) return {key, dtype};
    }
    throw StatePickleError("a tensor is of type " + type);
  }

  static std::vector<int64_t> integers(const Tuple& tuple) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < tuple.items.size(); ++i) {
      values.push_back(expect<int64_t>(tuple.items, i, "shape"));
    }
    return values;
  }

  void reduce() {
    const ValuePtr arguments = pop();
    const ValuePtr called = pop();
    const auto* function = std::get_if<Global>(&called->is);
    const auto* tuple = std::get_if<Tuple>(&arguments->is);
    if (function == nullptr || tuple == nullptr) throw StatePickleError("its pickle calls no name");
    const auto& items = tuple->items;
    if (function->name == "collections.OrderedDict" && items.empty()) {
      push(Dictionary{});
    } else if (function->name == "torch._utils._rebuild_tensor_v2") {
      refuse_unresolved(items);
      const auto& from = expect<Storage>(items, 0, "storage");
      push(StoredTensor{from.key, from.dtype, expect<int64_t>(items, 1, "offset"),
                        integers(expect<Tuple>(items, 2, "sizes")),
                        integers(expect<Tuple>(items, 3, "strides"))});
    } else if (function->name == "torch._utils._rebuild_tensor_v3") {
      push(Other{"a tensor of a dtype that is not read here"});
    } else if (function->name == "torch._utils._rebuild_parameter") {
      push(expect<StoredTensor>(items, 0, "data"));
    } else {
      push(Other{"a " + function->name});
    }
  }

  // A view whose numbers are still to be negated or conjugated (x.imag of a conjugate) says so
  // last.
  static void refuse_unresolved(const std::vector<ValuePtr>& items) {
    constexpr size_t kBits = 6;
    const auto* bits = items.size() > kBits ? std::get_if<Dictionary>(&items[kBits]->is) : nullptr;
    if (bits != nullptr && !bits->members->empty()) {
      throw StatePickleError("a tensor is a negated or conjugated view: save x.clone()");
    }
  }

  std::string_view rest_;
  std::vector<ValuePtr> stack_;
  std::unordered_map<uint64_t, ValuePtr> memo_;
};

}  // namespace

std::map<std::string, StoredTensor> parse_state_pickle(std::string_view pickle,
                                                       const std::vector<std::string>& wanted) {
  return Machine(pickle).run(wanted);
}

}  // namespace precbench::train
