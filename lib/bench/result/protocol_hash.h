// Two results are comparable when their protocols are the same.
#pragma once

#include <string>

#include "common/json_fields.h"

namespace precbench {

// SHA-256 in hex of `protocol` without its `hash`, keys sorted, no spaces.
std::string protocol_hash(const json& protocol);

}  // namespace precbench
