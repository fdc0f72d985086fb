// The one way in for text from outside (arguments, variables, a worker, a result file, a device's
// name): made safe for a terminal, a log line and every output format.
#pragma once

#include <string>
#include <string_view>

namespace precbench {

// One line of valid UTF-8. Control characters (so escape sequences too), bytes that are not UTF-8,
// characters that reorder what follows (Trojan Source) and noncharacters, which XML refuses, become
// '?'; tabs and line ends become spaces.
std::string printable(std::string_view text);

// The same for our own messages with texts from outside in them: a line end stays where a blank
// follows it, as before the second line of an error.
std::string printable_message(std::string_view text);

}  // namespace precbench
