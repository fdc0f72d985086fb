// A model's own sizes, as a job names them ({"layers": 4}) and common/names.h lists them.
#pragma once

#include <string>

#include "common/json_fields.h"

namespace precbench::train {

// Throws std::invalid_argument for an option that the model's row in kModels does not name.
void check_model_options(const std::string& model, const json& options);

// A positive whole number, or `fallback` where it is not given. Throws std::invalid_argument.
int64_t size_option(const json& options, const char* key, int64_t fallback);

// Throws std::invalid_argument with `what`.
void require_fit(bool fits, const std::string& what);

}  // namespace precbench::train
