#include "bench/report/html/page.h"

#include <openssl/evp.h>

#include <string_view>

#include "bench/files/sha256.h"
#include "bench/report/heading.h"
#include "bench/report/html/chart_data.h"
#include "bench/report/html/sections.h"
#include "bench/text/escape.h"
#include "common/json_text.h"

namespace precbench {
namespace embedded {
extern const char* const chart_js;
extern const char* const page_css;
extern const char* const page_js;
}  // namespace embedded

namespace {

// Pages are sent by mail and pasted into chats. With Chart.js (200 KB) and this the page stays
// under 600 KB; a longer result is embedded without its samples.
constexpr size_t kMostResultBytes = 300 * 1024;

// A source of a Content-Security-Policy: 'sha256-<base64>'.
std::string csp_hash(std::string_view text) {
  const std::string hex = sha256_of(text);
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  std::string base64(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(base64.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  base64.resize(static_cast<size_t>(length));
  return "'sha256-" + base64 + "'";
}

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

std::string head(const ResultDocument& document, const std::string& policy) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         policy +
         "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         html_text("precbench: " + device_name(document)) + "</title>\n<style>" +
         embedded::page_css + "</style>\n</head>\n";
}

}  // namespace

std::string html_of_result(const ResultDocument& document) {
  const std::string_view chart_js = embedded::chart_js;
  const std::string_view page_js = embedded::page_js;
  const bool has_charts = !chart_js.empty() && !html::charts_of(document).empty();
  std::string scripts = csp_hash(page_js);
  if (has_charts) scripts += " " + csp_hash(chart_js);
  const std::string policy =
      "default-src 'none'; base-uri 'none'; form-action 'none'; script-src " + scripts +
      "; style-src " + csp_hash(embedded::page_css);
  const Recommendation recommendation = recommend(document);
  std::string page = head(document, policy) + "<body>\n<main>\n";
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
