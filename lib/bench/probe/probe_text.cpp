#include "bench/probe/probe_text.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "bench/text/escape.h"
#include "bench/text/layout.h"
#include "common/printable.h"

namespace precbench {
namespace {

std::string text_of(const json& value) {
  return value.is_string() ? printable(value.get<std::string>()) : "";
}

std::string figure(const json& value, const char* format) {
  return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>()) : "-";
}

// "80.3 G", "312 T".
std::string rate(const json& tflops) {
  if (!tflops.is_number()) return "-";
  const double value = tflops.get<double>();
  return value >= 1 ? fmt::format("{:.3g} T", value) : fmt::format("{:.3g} G", value * 1000);
}

std::string verdict_cell(const json& row) {
  std::string words = text_of(row.at("support").at("verdict"));
  return words == "no_fast_path" ? "no fast path" : words;
}

std::vector<std::string> lines_of_modes(const json& document, size_t columns) {
  std::vector<std::vector<std::string>> rows;
  for (const json& row : document.at("modes")) {
    rows.push_back({text_of(row.at("mode")), verdict_cell(row), text_of(row.at("compute_dtype")),
                    rate(row.at("gemm_tflops")), figure(row.at("gemm_ratio"), "{:.2g}x"),
                    rate(row.at("convolution_tflops")),
                    figure(row.at("convolution_ratio"), "{:.2g}x"), rate(row.at("spec_tflops")),
                    text_of(row.at("support").at("why"))});
  }
  return laid_out({"mode", "verdict", "computes in", "GEMM FLOP/s", "vs fp32", "conv FLOP/s",
                   "vs fp32", "data sheet", "why"},
                  rows, columns);
}

std::vector<std::string> lines_of_formats(const json& document, size_t columns) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, format] : document.at("formats").items()) {
    const json& numbers = format.at("numbers");
    if (!numbers.is_object()) continue;
    rows.push_back(
        {printable(name), figure(numbers.at("max"), "{:.4g}"),
         figure(numbers.at("epsilon"), "{:.3g}"), figure(numbers.at("smallest_normal"), "{:.3g}"),
         figure(numbers.at("smallest_subnormal"), "{:.3g}"), text_of(numbers.at("overflow")),
         numbers.at("gemm_accumulates").is_string()
             ? text_of(numbers.at("gemm_accumulates")) + " format"
             : "-"});
  }
  return laid_out({"format", "max", "epsilon", "smallest normal", "subnormal", "overflow gives",
                   "GEMM accumulates in"},
                  rows, columns);
}

}  // namespace

std::string probe_text(const json& document, const RenderOptions& options) {
  std::string text;
  const auto add = [&](const std::string& line) {
    text += wrapped(line, options.columns, 2) + "\n";
  };
  const json& device = document.at("environment").at("device");
  add(text_of(device.at("name")) + " · LibTorch " + text_of(document.at("tool").at("libtorch")) +
      fmt::format(", {} threads", document.at("threads").get<int64_t>()));
  add("");
  for (const std::string& line : lines_of_modes(document, options.columns)) text += line + "\n";
  add("");
  for (const std::string& line : lines_of_formats(document, options.columns)) text += line + "\n";
  std::set<std::string> contradictions;  // two modes may compute in one format
  for (const json& row : document.at("modes")) {
    if (row.at("contradicts").is_string()) contradictions.insert(text_of(row.at("contradicts")));
  }
  for (const std::string& contradiction : contradictions) add("warning: " + contradiction);
  for (const auto& [name, format] : document.at("formats").items()) {
    for (const auto& [what, why] : format.at("unknown").items()) {
      add(printable(name) + ", " + printable(what) + ": " + text_of(why));
    }
  }
  add("");
  add("Rates: the products of a linear layer and of a 3x3 convolution, forward and backward; a "
      "multiplication and an addition are two operations.");
  return options.ascii ? ascii_text(text) : text;
}

}  // namespace precbench
