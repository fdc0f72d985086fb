// The HTML report: one page that needs no network, to be passed on.
#pragma once

#include <string>

#include "bench/result/document.h"

namespace precbench {

// Strings of the document are text everywhere; besides, the page's Content-Security-Policy allows
// no script but the two that are part of it, by their hashes, and no request at all.
std::string html_of_result(const ResultDocument& document);

}  // namespace precbench
