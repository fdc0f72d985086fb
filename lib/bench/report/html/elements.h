// Paragraphs, tables and lists; every text is escaped here.
#pragma once

#include <string>
#include <vector>

namespace precbench::html {

using Cells = std::vector<std::string>;

std::string paragraph(const std::string& text, const char* css_class = "");

// With `labels`, the heads of the columns: a phone shows each row as a card of lines.
std::string body_row(const Cells& cells, bool is_best = false, const Cells& labels = {});

// `rows` are body rows.
std::string table_of(const char* css_class, const Cells& header, const std::string& rows);

std::string list_of(const std::vector<std::string>& texts);

}  // namespace precbench::html
