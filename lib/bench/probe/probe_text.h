// A probe's document for people.
#pragma once

#include <string>

#include "bench/text/render_options.h"
#include "common/json_fields.h"

namespace precbench {

// `document` as make_probe_document() builds it.
std::string probe_text(const json& document, const RenderOptions& options = {});

}  // namespace precbench
