// Two results are comparable when their protocols are the same.
#pragma once

#include <string>

#include "common/json_fields.h"

namespace precbench {

// Keys sorted, no spaces, ASCII: byte for byte what Python's
// json.dumps(value, sort_keys=True, separators=(",", ":")) writes, so that anyone can check a hash.
std::string canonical_json(const json& value);

// SHA-256 in hex of `protocol` without its `hash`, `unknown` and `gemm_rates`, as canonical_json
// writes it: rewording the reason of a null makes no other protocol, nor does measuring again what
// `gemm` was chosen by.
std::string protocol_hash(const json& protocol);

}  // namespace precbench
