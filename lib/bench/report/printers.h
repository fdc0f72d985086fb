// The printers behind render(); one .cpp file each.
#pragma once

#include <memory>

#include "bench/report/printer.h"

namespace precbench {

std::unique_ptr<Printer> make_text_printer();      // blocks, table, summary
std::unique_ptr<Printer> make_report_printer();    // blocks alone
std::unique_ptr<Printer> make_table_printer();     // table, footnotes, summary
std::unique_ptr<Printer> make_markdown_printer();  // the same, to paste into an issue
std::unique_ptr<Printer> make_csv_printer();       // one line per mode, for a spreadsheet
std::unique_ptr<Printer> make_json_printer();      // the result file
std::unique_ptr<Printer> make_none_printer();

}  // namespace precbench
