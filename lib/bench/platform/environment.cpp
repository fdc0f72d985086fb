#include "bench/platform/environment.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "bench/files/sha256.h"

namespace precbench {
namespace {

// An object whose unknown members are null and explained.
class Facts {
 public:
  template <typename T>
  void set(const char* key, const std::optional<T>& value, const std::string& reason) {
    object_[key] = nullable(value);
    if (object_[key].is_null()) object_["unknown"][key] = reason;
  }
  void set(const char* key, json value) { object_[key] = std::move(value); }
  void set_unknown(const char* key, const std::string& reason) {
    object_[key] = nullptr;
    object_["unknown"][key] = reason;
  }
  json take() { return std::move(object_); }

 private:
  json object_ = {{"unknown", json::object()}};
};

std::optional<std::string> if_said(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<int64_t> if_positive(int64_t number) {
  if (number <= 0) return std::nullopt;
  return number;
}

// The worker's own words on the device, or an empty object.
json device_entry(const json& worker_facts, const std::string& kind) {
  if (worker_facts.is_object() && worker_facts.contains("devices") &&
      worker_facts["devices"].is_array()) {
    for (const json& entry : worker_facts["devices"]) {
      if (entry.is_object() && entry.value("kind", json()) == kind) return entry;
    }
  }
  return json::object();
}

// The text of a member at a path of keys.
std::optional<std::string> text_in(const json& object, std::initializer_list<const char*> path) {
  const json* at = &object;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return std::nullopt;
    at = &(*at)[key];
  }
  if (!at->is_string()) return std::nullopt;
  return at->get<std::string>();
}

// Hexadecimal digits that stay of a hashed UUID: 64 bits tell the cards of any site apart.
constexpr size_t kUuidDigits = 16;

json device_json(const DeviceFacts& device, const json& entry) {
  Facts facts;
  const bool is_cpu = device.kind == "cpu";
  facts.set("kind", device.kind);
  facts.set("name", if_said(device.name), "the device does not tell its name");
  facts.set("compute_capability", if_said(compute_capability_text(device.compute_capability)),
            is_cpu ? "a CPU has none" : "the device does not tell it");
  facts.set("memory_bytes", device.memory_bytes, "the device does not tell it");
  json object = facts.take();
  for (const auto& [key, value] : entry.items()) {
    if (key == "uuid" && value.is_string()) {
      object["uuid_sha256"] = sha256_of(value.get<std::string>()).substr(0, kUuidDigits);
    } else if (key == "unknown" && value.is_object()) {
      for (const auto& [name, reason] : value.items()) {
        if (reason.is_string() && (!object.contains(name) || object[name].is_null())) {
          object["unknown"][name] = reason;
        }
      }
    } else if (key != "driver" && key != "cuda" && key != "cudnn" && !object.contains(key)) {
      object[key] = value;
    }
  }
  return object;
}

json cpu_json(const CpuFacts& cpu, int64_t threads, const json& worker_facts) {
  Facts facts;
  facts.set("model", if_said(cpu.model), "/proc/cpuinfo does not name it");
  facts.set("architecture", if_said(cpu.architecture), "uname does not tell it");
  if (cpu.flags_known) {
    facts.set("flags", cpu.flags);
  } else {
    facts.set_unknown("flags", "/proc/cpuinfo cannot be read or lists none");
  }
  facts.set("threads", threads);
  facts.set("logical_cores", if_positive(cpu.logical_cores), "/proc/cpuinfo cannot be read");
  facts.set("physical_cores", if_positive(cpu.physical_cores), "/proc/cpuinfo cannot be read");
  facts.set("capability", text_in(worker_facts, {"cpu", "capability"}),
            "the worker did not tell which vector instructions its LibTorch chose");
  return facts.take();
}

}  // namespace

json environment_json(const DeviceFacts& device, const CpuFacts& cpu, int64_t threads,
                      const json& worker_facts, const OsFacts& os) {
  const json entry = device_entry(worker_facts, device.kind);
  Facts facts;
  facts.set("device", device_json(device, entry));
  const std::string no_gpu = "no GPU is used";
  const std::string untold = "the worker did not tell it";
  for (const char* key : {"driver", "cuda", "cudnn"}) {
    facts.set(key, text_in(entry, {key}), device.kind == "cuda" ? untold : no_gpu);
  }
  facts.set("libtorch", if_said(device.libtorch_version), untold);
  facts.set("libtorch_cuda", text_in(worker_facts, {"libtorch", "cuda_built"}),
            "this LibTorch was built without CUDA, or the worker did not tell");
  facts.set("cpu", cpu_json(cpu, threads, worker_facts));
  facts.set("os", os.name, "there is no /etc/os-release");
  facts.set("kernel", os.kernel, "uname failed");
  facts.set("memory_bytes", os.memory_bytes, "/proc/meminfo does not tell it");
  facts.set("load_average", os.load_average, "/proc/loadavg cannot be read");
  facts.set("container", os.container, "no sign of a container");
  return facts.take();
}

json environment_json(const DeviceFacts& device, const CpuFacts& cpu, int64_t threads,
                      const json& worker_facts) {
  return environment_json(device, cpu, threads, worker_facts, read_os_facts());
}

}  // namespace precbench
