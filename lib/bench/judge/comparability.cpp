#include "bench/judge/comparability.h"

#include <set>

#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "common/errors.h"
#include "common/suggest.h"

namespace precbench {
namespace {

struct Property {
  const char* name;
  std::vector<const char*> path;
  bool is_in_tool;  // else in environment
};

const std::vector<Property>& machine_properties() {
  static const std::vector<Property> properties = {
      {"device", {"device", "name"}, false}, {"device kind", {"device", "kind"}, false},
      {"CPU", {"cpu", "model"}, false},      {"threads", {"cpu", "threads"}, false},
      {"LibTorch", {"libtorch"}, true},
  };
  return properties;
}

const std::vector<Property>& software_properties() {
  static const std::vector<Property> properties = {
      {"driver", {"driver"}, false},       {"CUDA", {"cuda"}, false},
      {"cuDNN", {"cudnn"}, false},         {"precbench", {"version"}, true},
      {"git revision", {"git_sha"}, true},
  };
  return properties;
}

const json* at(const json& object, const std::vector<const char*>& path) {
  const json* here = &object;
  for (const char* key : path) {
    if (!here->is_object()) return nullptr;
    const auto member = here->find(key);
    if (member == here->end() || member->is_null()) return nullptr;
    here = &*member;
  }
  return here;
}

std::string value_text(const json& value) {
  const std::string text = value.is_string()
                               ? value.get<std::string>()
                               : value.dump(-1, ' ', false, json::error_handler_t::replace);
  return shortened(terminal_text(text), 80);
}

// The name of a GPU must be known on both sides to be the same.
bool needs_name(const Property& property, const ResultDocument& document) {
  return !property.is_in_tool && std::string_view(property.name) == "device" &&
         text_at(document.environment, {"device", "kind"}) == "cuda";
}

// An unknown value on a side differs from nothing, but for a GPU's name.
std::vector<std::string> differences(const std::vector<Property>& properties,
                                     const ResultDocument& base, const ResultDocument& current) {
  std::vector<std::string> found;
  for (const Property& property : properties) {
    const json* a = at(property.is_in_tool ? base.tool : base.environment, property.path);
    const json* b = at(property.is_in_tool ? current.tool : current.environment, property.path);
    const auto text = [](const json* value) {
      return value == nullptr ? std::string("not known") : value_text(*value);
    };
    const bool is_known = a != nullptr && b != nullptr;
    if (is_known ? *a == *b : !needs_name(property, base) && !needs_name(property, current))
      continue;
    found.push_back(std::string(property.name) + " " + text(a) + " and " + text(b));
  }
  return found;
}

}  // namespace

std::vector<std::string> protocol_differences(const ResultDocument& base,
                                              const ResultDocument& current) {
  std::set<std::string> keys;
  for (const json* protocol : {&base.protocol, &current.protocol}) {
    for (const auto& [key, value] : protocol->items()) {
      if (key != "hash" && key != "unknown" && key != "gemm_rates") keys.insert(key);
    }
  }
  std::vector<std::string> fields;
  for (const std::string& key : keys) {
    const json a = base.protocol.value(key, json());
    const json b = current.protocol.value(key, json());
    if (a == b) continue;
    fields.push_back(shortened(terminal_text(key), 40) + " (" + value_text(a) + ", " +
                     value_text(b) + ")");
  }
  return fields;
}

void require_same_protocol(const ResultDocument& base, const ResultDocument& current) {
  const std::vector<std::string> fields = protocol_differences(base, current);
  if (fields.empty() || are_interleaved(base, current)) return;
  throw FileError("the two results are not comparable, their protocols differ in " +
                  joined(fields, ", ") +
                  "\nmeasure both in the same way, or compare all the same with --force");
}

std::vector<std::string> machine_differences(const ResultDocument& base,
                                             const ResultDocument& current) {
  std::vector<Property> properties = machine_properties();
  // One machine by construction, and threads or LibTorch may be what differs on purpose.
  if (are_interleaved(base, current)) {
    std::erase_if(properties, [](const Property& property) {
      return property.is_in_tool || std::string_view(property.name) == "threads";
    });
  }
  return differences(properties, base, current);
}

bool are_interleaved(const ResultDocument& base, const ResultDocument& current) {
  const auto id = text_at(base.invocation, {"interleaved"});
  return id && !id->empty() && id == text_at(current.invocation, {"interleaved"});
}

std::vector<std::string> software_differences(const ResultDocument& base,
                                              const ResultDocument& current) {
  return differences(software_properties(), base, current);
}

void clear_other_machine(ResultDocument& document) {
  for (ModeRecord& mode : document.modes) {
    std::erase_if(mode.marks, [](const Mark& mark) { return mark.id == "other-machine"; });
  }
}

void mark_other_machine(const ResultDocument& base, ResultDocument& current) {
  clear_other_machine(current);
  const std::vector<std::string> differences = machine_differences(base, current);
  if (differences.empty()) return;
  for (ModeRecord& mode : current.modes) {
    mode.marks.push_back({"other-machine", joined(differences, ", ")});
  }
}

}  // namespace precbench
