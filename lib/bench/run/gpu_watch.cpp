#include "bench/run/gpu_watch.h"

namespace precbench {
namespace {

std::string text_of(const json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

}  // namespace

NvmlTarget nvml_target(const json& worker_facts, const std::string& device) {
  NvmlTarget target;
  const auto devices = worker_facts.find("devices");
  if (devices == worker_facts.end() || !devices->is_array()) return target;
  for (const json& entry : *devices) {
    if (!entry.is_object() || text_of(entry, "id") != device) continue;
    target.uuid = text_of(entry, "uuid");
    target.pci_bus_id = text_of(entry, "pci_bus_id");
  }
  return target;
}

GpuWatch::GpuWatch(const DeviceChoice& device) {
  if (device.facts.kind == "cuda") {
    monitor_ = std::make_unique<NvmlMonitor>(nvml_target(device.worker_facts, device.name));
  } else {
    reason_ = device.facts.kind == "cpu" ? "it ran on the CPU: only NVIDIA GPUs are watched"
                                         : "a simulated device has no power or clocks";
  }
}

std::optional<std::string> GpuWatch::driver(std::string& reason) {
  reason = reason_;
  if (monitor_ == nullptr) return std::nullopt;
  const auto facts = monitor_->facts(reason);
  if (!facts) return std::nullopt;
  if (const auto why = facts->unknown.find("driver"); why != facts->unknown.end()) {
    reason = why->second;
  }
  return facts->driver;
}

void GpuWatch::begin() {
  if (monitor_ != nullptr) monitor_->begin();
}

NvmlReport GpuWatch::end() {
  return monitor_ != nullptr ? monitor_->end() : empty_nvml_report(reason_);
}

}  // namespace precbench
