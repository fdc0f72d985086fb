#include "bench/report/html/elements.h"

#include <fmt/format.h>

#include "bench/text/escape.h"

namespace precbench::html {
namespace {

std::string head_row(const Cells& cells) {
  std::string row = "<thead><tr>";
  for (const std::string& cell : cells) row += "<th scope=\"col\">" + html_text(cell) + "</th>";
  return row + "</tr></thead>\n";
}

}  // namespace

std::string paragraph(const std::string& text, const char* css_class) {
  const std::string attribute = *css_class != '\0' ? fmt::format(" class=\"{}\"", css_class) : "";
  return "<p" + attribute + ">" + html_text(text) + "</p>\n";
}

std::string body_row(const Cells& cells, bool is_best, const Cells& labels) {
  std::string row = is_best ? "<tr class=\"best\">" : "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string label =
        i < labels.size() ? " data-label=\"" + html_text(labels[i]) + "\"" : "";
    row += i == 0 ? "<th scope=\"row\">" + html_text(cells[i]) + "</th>"
                  : "<td" + label + ">" + html_text(cells[i]) + "</td>";
  }
  return row + "</tr>\n";
}

std::string table_of(const char* css_class, const Cells& header, const std::string& rows) {
  return fmt::format("<div class=\"scroll\" tabindex=\"0\"><table class=\"{}\">\n", css_class) +
         head_row(header) + "<tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string list_of(const std::vector<std::string>& texts) {
  if (texts.empty()) return "";
  std::string list = "<ul class=\"notes\">\n";
  for (const std::string& text : texts) list += "<li>" + html_text(text) + "</li>\n";
  return list + "</ul>\n";
}

}  // namespace precbench::html
