#include "common/json_input.h"

#include <set>
#include <string>
#include <vector>

#include "common/limits.h"

namespace precbench {
namespace {

// One pass over the bytes. In what is no JSON the answer may be wrong, but never lets it nest.
void refuse_beyond_limits(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '{') {
      if (++depth > limits::kJsonDepth) {
        throw JsonLimitError("is nested more than " + std::to_string(limits::kJsonDepth) +
                             " levels deep");
      }
    } else if (c == ']' || c == '}') {
      if (depth > 0) --depth;
    } else if (c == '"') {
      const size_t begin = i++;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      if (i - begin > limits::kJsonTextBytes) {
        throw JsonLimitError("holds a text of over " +
                             std::to_string(limits::kJsonTextBytes / limits::kKibibyte) + " KiB");
      }
    }
  }
}

class KeyCheck {
 public:
  void take(json::parse_event_t event, const json& parsed) {
    using enum json::parse_event_t;
    if (event == object_start || event == array_start) keys_.emplace_back();
    if (event == object_end || event == array_end) keys_.pop_back();
    if (event == key && !keys_.back().insert(parsed.get<std::string>()).second) {
      throw JsonLimitError("has the key '" + parsed.get<std::string>() + "' twice in one object");
    }
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

json json_from_text(std::string_view text, RepeatedKeys keys) {
  refuse_beyond_limits(text);
  if (keys == RepeatedKeys::last_counts) return json::parse(text);
  KeyCheck check;  // by reference: the parser copies its callback
  return json::parse(text, [&check](int, json::parse_event_t event, const json& parsed) {
    check.take(event, parsed);
    return true;
  });
}

}  // namespace precbench
