// The comparison table as cells of text, which the text, Markdown and HTML printers lay out.
#pragma once

#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // one per mode, as many cells as the header
  std::vector<std::string> footnotes;          // each explains a sign in a cell or a note
};

// Cells and footnotes are UTF-8; texts from the file are in terminal_text's form (escape.h).
Table comparison_table(const ResultDocument& document);

}  // namespace precbench
