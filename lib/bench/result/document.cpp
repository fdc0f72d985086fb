#include "bench/result/document.h"

#include "bench/result/derived.h"
#include "common/engines.h"
#include "common/fields_json.h"

namespace precbench {
namespace {

json mode_json(const ModeRecord& mode, const ModeRecord* reference) {
  json object = json_of(mode);
  object["mode"] = mode_of_row(mode.mode);
  object["engine"] = engine_of_row(mode.mode);
  object["summary"] = summary_json(mode);
  object["relative"] = relative_json(mode, reference);
  object["unknown"] = json::object();
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
