// Texts from result files (names of devices, reasons, notes) come from anywhere. Each output format
// gets them in a form that stays text there.
#pragma once

#include <string>
#include <string_view>

#include "common/printable.h"

namespace precbench {

// One line for a terminal.
inline std::string terminal_text(std::string_view text) { return printable(text); }

// Inside a Markdown table: terminal_text with the markup characters escaped.
std::string markdown_cell(std::string_view text);

// The same as a paragraph, where what would begin a list, a heading or a code block is escaped too.
std::string markdown_text(std::string_view text);

// The same as code.
std::string markdown_code(std::string_view text);

// One CSV field (RFC 4180). A text that a spreadsheet would take for a formula (= + - @ in front,
// full-width or behind spaces too) gets an apostrophe before it.
std::string csv_text(std::string_view text);

// A word of a command line, as a shell reads it back.
std::string shell_word(const std::string& text);

// Inside HTML text or a double-quoted attribute.
std::string html_text(std::string_view text);

// UTF-8 decorations (± · ≈) as ASCII (+- | ~), for locales without them; other characters that are
// not ASCII become '?'.
std::string ascii_text(std::string_view text);

// At most `limit` bytes, cut at a character's start, with "..." where something is missing.
std::string shortened(std::string text, size_t limit = 300);

}  // namespace precbench
