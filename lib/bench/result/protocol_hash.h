// Two results are comparable when their protocols are the same.
#pragma once

#include <string>

#include "common/json_fields.h"

namespace precbench {

// Keys sorted, no spaces, ASCII: byte for byte what Python's
// json.dumps(value, sort_keys=True, separators=(",", ":")) writes, so that anyone can check a hash.
std::string canonical_json(const json& value);

// SHA-256 in hex of `protocol` without its `hash` and `unknown`, as canonical_json writes it:
// rewording the reason of a null makes no other protocol.
std::string protocol_hash(const json& protocol);

}  // namespace precbench
