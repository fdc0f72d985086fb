// Text from outside (a worker, a result file, a device's name) made safe for a terminal or a log
// line.
#pragma once

#include <string>
#include <string_view>

namespace precbench {

// Control characters (so escape sequences too) and bytes that are not UTF-8 become '?'; tabs and
// line ends become spaces.
std::string printable(std::string_view text);

}  // namespace precbench
