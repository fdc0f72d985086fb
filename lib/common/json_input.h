// JSON from outside: the one way in for every parser (configurations, results, events, jobs, the
// probe's cache). What nests too deeply is refused before anything recurses.
#pragma once

#include <stdexcept>
#include <string_view>

#include "common/json_fields.h"

namespace precbench {

// It is JSON, and beyond what is taken; what() ends "PATH ...": "is nested more than ...".
class JsonLimitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Readers disagree on which of two equal keys counts.
enum class RepeatedKeys { last_counts, refused };

// Throws JsonLimitError, and nlohmann's json::exception for what is no JSON.
json json_from_text(std::string_view text, RepeatedKeys keys = RepeatedKeys::last_counts);

}  // namespace precbench
