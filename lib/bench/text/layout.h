// Text in the columns of a terminal, where wide characters take two and combining ones none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace precbench {

// Columns of text under a header line, two spaces between them; every row has as many cells as the
// header. Lines end without blanks. What is wider than `columns` (0 = no limit) stands in several
// such tables below each other, a blank line between them, each with the first column; a header
// "vs ..." stays beside what it is of. Cells wider than half of the lines, and the last ones, are
// wrapped at words.
std::vector<std::string> laid_out(const std::vector<std::string>& header,
                                  const std::vector<std::vector<std::string>>& rows,
                                  size_t columns = 0);

// The text wrapped at words, its lines after the first behind `indent` blanks; lines that it has
// already stay. A word longer than a line is cut.
std::string wrapped(std::string_view text, size_t columns, size_t indent);

// As much of one line as fits.
std::string cut_to(std::string_view text, size_t columns);

// A Markdown table; cells are escaped. The first and the last column are texts, the others figures.
std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows);

}  // namespace precbench
