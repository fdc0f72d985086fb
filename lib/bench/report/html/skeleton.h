// What every page begins with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace precbench::html {

// Up to and with <main>: the style sheet, and a Content-Security-Policy that allows it, the scripts
// given, by their hashes, and no request at all.
std::string head(const std::string& title, const std::vector<std::string_view>& scripts = {});

}  // namespace precbench::html
