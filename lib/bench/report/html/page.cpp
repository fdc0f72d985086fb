#include "bench/report/html/page.h"

#include <string_view>
#include <vector>

#include "bench/report/heading.h"
#include "bench/report/html/chart_data.h"
#include "bench/report/html/sections.h"
#include "bench/report/html/skeleton.h"
#include "bench/text/escape.h"
#include "common/json_text.h"

namespace precbench {
namespace embedded {
extern const char* const chart_js;
extern const char* const page_js;
}  // namespace embedded

namespace {

// Pages are sent by mail and pasted into chats. With Chart.js (200 KB) and this the page stays
// under 600 KB; a longer result is embedded without its samples.
constexpr size_t kMostResultBytes = 300 * 1024;

// JSON that is inert inside <script type="application/json">: nothing in it can end the element.
std::string inert_json(const json& value) {
  std::string result;
  for (const char c : json_text(value, -1, true)) {
    if (c == '<') {
      result += "\\u003c";
    } else if (c == '>') {
      result += "\\u003e";
    } else if (c == '&') {
      result += "\\u0026";
    } else {
      result += c;
    }
  }
  return result;
}

std::string data_block(const char* id, const std::string& text) {
  return std::string("<script type=\"application/json\" id=\"") + id + "\">" + text + "</script>\n";
}

std::string script(std::string_view text) { return "<script>" + std::string(text) + "</script>\n"; }

ResultDocument without_samples(ResultDocument document) {
  for (ModeRecord& mode : document.modes) {
    for (RunRecord& run : mode.runs) {
      run.time.step_ms.samples.clear();
      run.loss_trace.clear();
      for (const char* key : {"step_ms.samples", "loss_trace"}) {
        run.unknown[key] = "left out of the page, which would be too long; the result file has it";
      }
    }
  }
  return document;
}

std::string result_json(const ResultDocument& document) {
  std::string text = inert_json(to_json(document));
  return text.size() <= kMostResultBytes ? text : inert_json(to_json(without_samples(document)));
}

}  // namespace

std::string html_of_result(const ResultDocument& document) {
  const std::string_view chart_js = embedded::chart_js;
  const std::string_view page_js = embedded::page_js;
  const bool has_charts = !chart_js.empty() && !html::charts_of(document).empty();
  std::vector<std::string_view> scripts = {page_js};
  if (has_charts) scripts.push_back(chart_js);
  const Recommendation recommendation = recommend(document);
  std::string page = html::head("precbench: " + device_name(document), scripts);
  page += html::verdict_section(document, recommendation);
  page += html::table_section(comparison_table(document), recommendation.mode);
  page += html::gate_section(document);
  page += html::charts_section(document, !chart_js.empty());
  page += html::recipe_section(document);
  page += html::numbers_section(document);
  page += html::gpu_section(document);
  page += html::environment_section(document);
  page +=
      "<p><button id=\"download\" type=\"button\">Download the result file (JSON)</button></p>\n";
  page += "</main>\n" + data_block("result", result_json(document));
  if (has_charts)
    page += data_block("charts", inert_json(html::chart_data(document))) + script(chart_js);
  return page + script(page_js) + "</body>\n</html>\n";
}

}  // namespace precbench
