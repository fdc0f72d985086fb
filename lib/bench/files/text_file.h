// Small files of the kernel (/proc, /sys, /etc), read whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace precbench {

// At most 4 MiB (the largest is /proc/cpuinfo, about 1.5 KiB a core). Nothing when it cannot be
// read.
std::optional<std::string> read_text_file(const std::string& path);

// Without blanks and line ends at both sides.
std::string_view trimmed(std::string_view text);

// Views into `text`, without the line ends.
std::vector<std::string_view> lines_of(std::string_view text);

// Parts between blanks; views into `text`.
std::vector<std::string_view> words_of(std::string_view text);

// A whole number in `base`, nothing else around it.
std::optional<int64_t> whole_number(std::string_view text, int base = 10);

}  // namespace precbench
