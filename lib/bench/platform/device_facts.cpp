#include "bench/platform/device_facts.h"

#include <string_view>

#include "bench/files/text_file.h"
#include "common/errors.h"

namespace precbench {
namespace {

// "sm_75" or "compute_90a" with the given prefix; a suffix letter marks code for that card alone
// and does not change the number.
std::optional<int> architecture_number(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  const auto number = whole_number(name);
  if (!number || *number < 10 || *number > 999) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::string compute_capability_text(int compute_capability) {
  if (compute_capability <= 0) return {};
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

int compute_capability_number(const std::string& text) {
  const size_t dot = text.find('.');
  if (dot == std::string::npos) return 0;
  const auto major = whole_number(std::string_view(text).substr(0, dot));
  const auto minor = whole_number(std::string_view(text).substr(dot + 1));
  if (!major || !minor || *major < 1 || *major > 99 || *minor < 0 || *minor > 9) return 0;
  return static_cast<int>(*major * 10 + *minor);
}

DeviceFacts device_facts_from(const json& worker_facts, const std::string& device,
                              const CpuFacts& cpu) {
  const std::string kind = device.substr(0, device.find(':'));
  const ObjectReader facts(worker_facts, "facts");
  DeviceFacts result;
  result.kind = kind;
  result.cpu = cpu;
  if (const auto libtorch = facts.optional_object("libtorch")) {
    result.libtorch_version = libtorch->value_or<std::string>("version", "");
  }
  for (const ObjectReader& entry : facts.objects("devices")) {
    if (entry.required<std::string>("kind") != kind) continue;
    result.name = entry.value_or<std::string>("name", "");
    result.memory_bytes = entry.optional<int64_t>("memory_bytes");
    result.compute_capability =
        compute_capability_number(entry.value_or<std::string>("compute_capability", ""));
    if (entry.has("architectures")) {
      for (const auto& name : entry.required<std::vector<std::string>>("architectures")) {
        if (const auto sm = architecture_number(name, "sm_")) {
          result.binary_architectures.push_back(*sm);
        } else if (const auto portable = architecture_number(name, "compute_")) {
          result.portable_architectures.push_back(*portable);
        }
      }
    }
    return result;
  }
  throw DeviceError("the worker found no device '" + device + "'");
}

}  // namespace precbench
