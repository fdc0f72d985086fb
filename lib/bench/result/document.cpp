#include "bench/result/document.h"

#include "bench/result/derived.h"

namespace precbench {
namespace {

json support_json(const std::optional<Support>& support) {
  if (!support) return nullptr;
  return {{"verdict", support->verdict}, {"why", support->why}};
}

json pilot_json(const std::optional<PilotRecord>& pilot) {
  if (!pilot) return nullptr;
  json object = {{"steps", pilot->steps},
                 {"projected_s", nullable(pilot->projected_s)},
                 {"peak_allocated_bytes", nullable(pilot->peak_allocated_bytes)},
                 {"unknown", pilot->unknown}};
  if (!pilot->loss_trace.empty()) {
    object["seed"] = pilot->seed;
    object["loss_trace"] = json::array();
    for (const auto& loss : pilot->loss_trace) object["loss_trace"].push_back(nullable(loss));
  }
  return object;
}

json ceiling_json(const std::optional<Ceiling>& ceiling) {
  if (!ceiling) return nullptr;
  return {{"tflops", ceiling->tflops}, {"format", ceiling->format}, {"source", ceiling->source}};
}

json mode_json(const ModeRecord& mode, const ModeRecord* reference) {
  json object = {{"mode", mode.mode},
                 {"effective_mode", mode.effective_mode},
                 {"status", name_of(mode.status)},
                 {"reason", nullable(mode.reason)},
                 {"support", support_json(mode.support)},
                 {"pilot", pilot_json(mode.pilot)},
                 {"ceiling", ceiling_json(mode.ceiling)},
                 {"recipe", to_json(mode.recipe)},
                 {"marks", json::array()},
                 {"runs", json::array()},
                 {"notes", mode.notes},
                 {"summary", summary_json(mode)},
                 {"relative", relative_json(mode, reference)},
                 {"unknown", json::object()}};
  for (const Mark& mark : mode.marks) {
    object["marks"].push_back({{"id", mark.id}, {"why", mark.why}});
  }
  for (const RunRecord& run : mode.runs) object["runs"].push_back(to_json(run));
  if (!mode.support) object["unknown"]["support"] = "no verdict was taken";
  if (!mode.ceiling) {
    object["unknown"]["ceiling"] = "precbench probe has not been run here with this LibTorch";
  }
  if (!mode.pilot) object["unknown"]["pilot"] = "no pilot steps were run";
  if (object["relative"].is_null()) {
    object["unknown"]["relative"] =
        reference == nullptr ? "no run is ok" : "this is the reference itself";
  }
  return object;
}

}  // namespace

json to_json(const ResultDocument& document) {
  const ModeRecord* reference = reference_mode(document);
  json modes = json::array();
  for (const ModeRecord& mode : document.modes) modes.push_back(mode_json(mode, reference));
  return {{"schema_version", document.schema_version}, {"tool", document.tool},
          {"invocation", document.invocation},         {"protocol", document.protocol},
          {"environment", document.environment},       {"modes", std::move(modes)},
          {"reference", document.reference},           {"gate", document.gate}};
}

}  // namespace precbench
