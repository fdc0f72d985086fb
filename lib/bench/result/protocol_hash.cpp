#include "bench/result/protocol_hash.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "bench/files/sha256.h"

namespace precbench {
namespace {

// A finite double as Python's repr writes it: the fewest digits that read back exactly, positional
// from 1e-4 up to 1e16 (float_repr_style, PyOS_double_to_string with format 'r'). nlohmann::json's
// own writer sometimes needs one digit more and changes to exponents at 1e15.
std::string python_repr(double value) {
  char buffer[32];
  const auto scientific =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string text(buffer, scientific.ptr);  // "1.25e-07"
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  if (value != 0 && (exponent < -4 || exponent >= 16)) return text;
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  const std::string plain(buffer, fixed.ptr);
  return plain.find('.') == std::string::npos ? plain + ".0" : plain;
}

void append(const json& value, std::string& text) {
  if (value.is_object() || value.is_array()) {
    text += value.is_object() ? '{' : '[';
    bool is_first = true;
    for (const auto& [key, member] : value.items()) {  // nlohmann::json keeps keys sorted
      if (!is_first) text += ',';
      is_first = false;
      if (value.is_object()) {
        append(key, text);
        text += ':';
      }
      append(member, text);
    }
    text += value.is_object() ? '}' : ']';
  } else if (value.is_number_float() && std::isfinite(value.get<double>())) {
    text += python_repr(value.get<double>());
  } else {
    text += value.dump(-1, ' ', true, json::error_handler_t::replace);
  }
}

}  // namespace

std::string canonical_json(const json& value) {
  std::string text;
  append(value, text);
  return text;
}

std::string protocol_hash(const json& protocol) {
  json hashed = protocol;
  hashed.erase("hash");
  hashed.erase("unknown");
  hashed.erase("gemm_rates");
  return sha256_of(canonical_json(hashed));
}

}  // namespace precbench
