#include "train/data/state_pickle.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "common/limits.h"
#include "train/data/pickle_bytes.h"
#include "train/data/pickle_values.h"

namespace precbench::train {
namespace {

using namespace pickle;

constexpr int kDeepest = 16;  // tuples in tuples; a tensor needs two

// The pickle machine (Python's pickletools documents the operations) for protocols 1 to 5, as
// torch.save's pickle_protocol may say.
class Machine {
 public:
  explicit Machine(std::string_view pickle)
      : bytes_(pickle), most_(limits::kMebibyte + limits::kPickleGrowth * pickle.size()) {}

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
    const char operation = bytes_.take(1)[0];
    switch (operation) {
      case '\x80':  // PROTO
        bytes_.take(1);
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
        push(bytes_.decimal_integer());
        break;
      case 'F':  // FLOAT
        bytes_.line();
        push(Other{"a number"});
        break;
      case 'J':  // BININT
        push(static_cast<int64_t>(static_cast<int32_t>(bytes_.number(4))));
        break;
      case 'K':  // BININT1
        push(static_cast<int64_t>(bytes_.number(1)));
        break;
      case 'M':  // BININT2
        push(static_cast<int64_t>(bytes_.number(2)));
        break;
      case '\x8a':  // LONG1
        push(bytes_.long_integer(bytes_.number(1)));
        break;
      case '\x8b':  // LONG4
        push(bytes_.long_integer(bytes_.number(4)));
        break;
      case 'G':  // BINFLOAT
        bytes_.take(8);
        push(Other{"a number"});
        break;
      case 'U':     // SHORT_BINSTRING, of Python 2
      case '\x8c':  // SHORT_BINUNICODE
        push(std::string(bytes_.take(bytes_.number(1))));
        break;
      case 'T':  // BINSTRING
      case 'X':  // BINUNICODE
        push(std::string(bytes_.take(bytes_.number(4))));
        break;
      case '\x8d':  // BINUNICODE8
        push(std::string(bytes_.take(bytes_.number(8))));
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
        bytes_.take(8);
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
        memo_[bytes_.number(1)] = top();
        break;
      case 'r':  // LONG_BINPUT
        memo_[bytes_.number(4)] = top();
        break;
      case 'h':  // BINGET
        recall(bytes_.number(1));
        break;
      case 'j':  // LONG_BINGET
        recall(bytes_.number(4));
        break;
      case 's':  // SETITEM
        set_items(pop_many(2));
        break;
      case 'u':  // SETITEMS
        set_items(pop_to_mark());
        break;
      case 'Q':  // BINPERSID
        push(storage_of(*pop()));
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

  void skip_bytes(size_t bytes_of_length) {
    bytes_.take(bytes_.number(bytes_of_length));
    push(Other{"bytes"});
  }

  Global global() {
    std::string name(bytes_.line());
    name += '.';
    name += bytes_.line();
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

  // A value can be recalled again and again, and what is made of it copies it.
  void grow(size_t bytes) {
    grown_ += bytes;
    if (grown_ > most_) {
      throw StatePickleError("its pickle makes over " + std::to_string(limits::kPickleGrowth) +
                             " times its own size of what it holds");
    }
  }

  template <typename T>
  void push(T value) {
    if constexpr (std::is_same_v<T, StoredTensor>) {
      grow((value.sizes.size() + value.strides.size()) * sizeof(int64_t) + value.storage.size());
    }
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
      if (name->size() > limits::kTensorNameBytes) {
        throw StatePickleError("the name of a tensor has " + std::to_string(name->size()) +
                               " bytes; at most " + std::to_string(limits::kTensorNameBytes) +
                               " are read");
      }
      const auto* tensor = std::get_if<StoredTensor>(&pairs[i + 1]->is);
      grow(sizeof(Member) + name->size() +
           (tensor ? (tensor->sizes.size() + tensor->strides.size()) * sizeof(int64_t) : 0));
      (*dictionary->members)[*name] =
          tensor ? Member{*tensor, ""} : Member{std::nullopt, what_is(*pairs[i + 1])};
    }
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
      push(tensor_of(items));
    } else if (function->name == "torch._utils._rebuild_tensor_v3") {
      push(Other{"a tensor of a dtype that is not read here"});
    } else if (function->name == "torch._utils._rebuild_parameter") {
      push(parameter_of(items));
    } else {
      push(Other{"a " + function->name});
    }
  }

  Bytes bytes_;
  size_t most_;
  size_t grown_ = 0;
  std::vector<ValuePtr> stack_;
  std::unordered_map<uint64_t, ValuePtr> memo_;
};

}  // namespace

std::map<std::string, StoredTensor> parse_state_pickle(std::string_view pickle,
                                                       const std::vector<std::string>& wanted) {
  return Machine(pickle).run(wanted);
}

}  // namespace precbench::train
