// Texts from result files (names of devices, reasons, notes) come from anywhere. Each output format
// gets them in a form that stays text there.
#pragma once

#include <string>
#include <string_view>

namespace precbench {

// One line for a terminal: control characters (ANSI escapes with them) and bidirectional overrides
// are dropped, line ends and tabs become spaces.
std::string terminal_text(std::string_view text);

// Inside a Markdown table cell or paragraph: terminal_text with the markup characters escaped.
std::string markdown_text(std::string_view text);

// One CSV field (RFC 4180). A text that a spreadsheet would take for a formula (leading = + - @)
// gets an apostrophe before it.
std::string csv_text(std::string_view text);

// Inside HTML text or a double-quoted attribute.
std::string html_text(std::string_view text);

// UTF-8 decorations (± · ≈) as ASCII (+- | ~), for locales without them.
std::string ascii_text(std::string_view text);

// At most `limit` bytes, cut at a character's start, with "..." where something is missing.
std::string shortened(std::string text, size_t limit = 300);

}  // namespace precbench
