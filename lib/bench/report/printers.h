// The printers behind render(), one .cpp file each, and the table that --format, its help and
// render() read.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "bench/report/printer.h"

namespace precbench {

std::unique_ptr<Printer> make_text_printer();      // blocks, table, summary
std::unique_ptr<Printer> make_report_printer();    // blocks alone
std::unique_ptr<Printer> make_table_printer();     // table, footnotes, summary
std::unique_ptr<Printer> make_markdown_printer();  // the same, to paste into an issue
std::unique_ptr<Printer> make_csv_printer();       // one line per mode, for a spreadsheet
std::unique_ptr<Printer> make_json_printer();      // the result file
std::unique_ptr<Printer> make_none_printer();

struct Format {
  std::string_view name;
  std::unique_ptr<Printer> (*make)();
};

inline constexpr std::array<Format, 7> kFormats = {{
    {"text", make_text_printer},
    {"report", make_report_printer},
    {"table", make_table_printer},
    {"markdown", make_markdown_printer},
    {"csv", make_csv_printer},
    {"json", make_json_printer},
    {"none", make_none_printer},
}};

}  // namespace precbench
