// Columns of text under a header line, two spaces between them.
#pragma once

#include <string>
#include <vector>

namespace precbench {

// Characters, not bytes. Wide characters do not occur in cells that the tool makes.
size_t width_of(const std::string& text);

// All lines, header first; every row has as many cells as the header. Lines end without blanks.
std::vector<std::string> laid_out(const std::vector<std::string>& header,
                                  const std::vector<std::vector<std::string>>& rows);

// The same as a Markdown table; cells are escaped. The first and the last column are texts, the
// others figures.
std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows);

}  // namespace precbench
