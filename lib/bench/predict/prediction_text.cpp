#include <fmt/format.h>

#include <algorithm>

#include "bench/predict/prediction.h"
#include "bench/text/escape.h"
#include "bench/text/layout.h"
#include "bench/text/units.h"
#include "common/errors.h"
#include "common/json_text.h"

namespace precbench {
namespace {

// The split's keys and what the table calls them.
constexpr std::pair<const char*, const char*> kUses[] = {
    {"weights_bytes", "weights"},         {"gradients_bytes", "gradients"},
    {"optimizer_bytes", "optimizer"},     {"activations_bytes", "activations"},
    {"autocast_bytes", "casts"},          {"workspace_bytes", "workspace"},
    {"temporaries_bytes", "temporaries"},
};

std::string mebibytes_or_dash(const json& bytes) {
  return bytes.is_number() ? mebibytes_text(bytes.get<double>()) : "-";
}

std::string gibibytes(const json& bytes) {
  return fmt::format("{:.2f} GiB", bytes.get<double>() / (1 << 30));
}

std::vector<std::string> header_of(bool has_max_batch) {
  std::vector<std::string> header = {"mode", "peak MiB", "reserved"};
  for (const auto& [key, title] : kUses) header.emplace_back(title);
  header.emplace_back("free");
  header.emplace_back("step >= ms");
  if (has_max_batch) header.emplace_back("max batch");
  header.emplace_back("notes");
  return header;
}

std::string notes_of(const json& row) {
  if (row.at("status") == "oom" && row.at("max_batch_size").is_null()) {
    return "oom: " + printable(row.at("reason").get<std::string>()) +
           "; --find-max-batch finds what does";
  }
  if (row.at("status") != "ok") {
    return row.at("status").get<std::string>() + ": " +
           printable(row.at("reason").get<std::string>());
  }
  const json& support = row.at("support");
  const auto verdict = support.at("verdict").get<std::string>();
  const auto why = support.at("why").get<std::string>();
  return why.empty() ? verdict : verdict + " (" + why + ")";
}

std::vector<std::string> cells_of(const json& row, bool has_max_batch) {
  std::vector<std::string> cells = {row.at("mode").get<std::string>(),
                                    mebibytes_or_dash(row.at("peak_allocated_bytes")),
                                    mebibytes_or_dash(row.at("peak_reserved_bytes"))};
  for (const auto& [key, title] : kUses) {
    cells.push_back(mebibytes_or_dash(row.at("split").value(key, json())));
  }
  cells.push_back(mebibytes_or_dash(row.at("free_bytes")));
  const json& least = row.at("least_step_ms");
  cells.push_back(least.is_number() ? fmt::format("{:.3g}", least.get<double>()) : "-");
  if (has_max_batch) {
    const json& largest = row.at("max_batch_size");
    cells.push_back(largest.is_number() ? std::to_string(largest.get<int64_t>()) : "-");
  }
  cells.push_back(notes_of(row));
  return cells;
}

std::string section(const json& gpu, bool is_markdown, const RenderOptions& options) {
  const json& modes = gpu.at("modes");
  const bool has_max_batch = std::any_of(modes.begin(), modes.end(), [](const json& row) {
    return row.at("max_batch_size").is_number();
  });
  std::vector<std::vector<std::string>> rows;
  for (const json& row : modes) rows.push_back(cells_of(row, has_max_batch));
  const std::string title =
      fmt::format("{} ({}, {}, {} of it for the CUDA context)", gpu.at("name").get<std::string>(),
                  gpu.at("compute_capability").get<std::string>(),
                  gibibytes(gpu.at("memory_bytes")), gibibytes(gpu.at("context_bytes")));
  const auto header = header_of(has_max_batch);
  if (is_markdown) return "## " + title + "\n\n" + markdown_table(header, rows);
  std::string text = wrapped(title, options.columns, 2) + "\n";
  for (const std::string& line : laid_out(header, rows, options.columns)) text += line + "\n";
  return text;
}

}  // namespace

void check_prediction_format(const std::string& format) {
  for (const char* known : {"text", "table", "markdown", "json", "none"}) {
    if (format == known) return;
  }
  throw UsageError("predict does not print " + format +
                   "\n       formats: text table markdown json none");
}

std::string render_prediction(const json& prediction, const std::string& format,
                              const RenderOptions& options) {
  if (format == "none") return "";
  if (format == "json") return json_text({{"prediction", prediction}}) + "\n";
  const bool is_markdown = format == "markdown";
  std::string text;
  for (const json& gpu : prediction.at("gpus")) {
    text += (text.empty() ? "" : "\n") + section(gpu, is_markdown, options);
  }
  text += wrapped(
      "\nMiB of a training step, by a simulation of the card: nothing was computed, so "
      "time and accuracy are not known.\nNo step can take less than \"step >= ms\" (data sheet; no "
      "prediction of its time).\n",
      is_markdown ? 0 : options.columns, 0);
  return options.ascii ? ascii_text(text) : text;
}

}  // namespace precbench
