#include "bench/result/protocol_hash.h"

#include "bench/result/sha256.h"

namespace precbench {

std::string protocol_hash(const json& protocol) {
  json hashed = protocol;
  hashed.erase("hash");
  // nlohmann::json keeps keys sorted; ASCII escapes as in Python's json.dumps, so that anyone can
  // check the hash.
  return sha256_of(hashed.dump(-1, ' ', true, json::error_handler_t::replace));
}

}  // namespace precbench
