#include "bench/report/heading.h"

#include <fmt/format.h>

#include "bench/result/measured.h"
#include "bench/text/escape.h"

namespace precbench {
namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<int64_t> whole(const json& object, const char* key) {
  const json* value = member(object, key);
  return value != nullptr && value->is_number_integer() ? std::optional(value->get<int64_t>())
                                                        : std::nullopt;
}

void append(std::string& line, const std::string& part, const char* separator) {
  if (part.empty()) return;
  line += (line.empty() ? "" : separator) + part;
}

std::string batch_line(const json& protocol) {
  const auto batch = whole(protocol, "batch_size");
  return batch ? batch_words(*batch, whole(protocol, "devices").value_or(1)) : "";
}

std::string device_text(const ResultDocument& document) {
  std::string text = device_name(document);
  const json* device = member(document.environment, "device");
  if (device == nullptr) return text;
  std::string details = text_at(*device, {"compute_capability"}).value_or("");
  if (const auto bytes = whole(*device, "memory_bytes")) {
    append(details, fmt::format("{:.1f} GiB", static_cast<double>(*bytes) / kGibibyte), ", ");
  }
  return details.empty() ? text : text + " (" + terminal_text(details) + ")";
}

}  // namespace

std::string device_name(const ResultDocument& document) {
  for (const auto& name : {text_at(document.environment, {"device", "name"}),
                           text_at(document.environment, {"cpu", "model"})}) {
    if (name && !name->empty()) return shortened(terminal_text(*name), 80);
  }
  return "unknown device";
}

std::string machine_line(const ResultDocument& document) {
  const auto version = text_at(document.tool, {"version"});
  std::string line = version ? "precbench " + terminal_text(*version) : "";
  append(line, device_text(document), " · ");
  std::string software;
  if (const auto libtorch = text_at(document.tool, {"libtorch"}))
    software = "LibTorch " + *libtorch;
  if (const auto cuda = text_at(document.environment, {"cuda"}))
    append(software, "CUDA " + *cuda, ", ");
  append(line, terminal_text(software), " · ");
  return line;
}

std::string batch_words(int64_t batch_size, int64_t devices) {
  if (devices == 1) return fmt::format("batch {}", batch_size);
  // A file's numbers may have any size.
  const double global = static_cast<double>(batch_size) * static_cast<double>(devices);
  return fmt::format("{} devices, batch {} (global {:.0f})", devices, batch_size, global);
}

std::string devices_note(const ResultDocument& document) {
  if (whole(document.protocol, "devices").value_or(1) <= 1) return "";
  return batch_line(document.protocol) +
         ": time is of the slowest rank, memory of the one that needed most, accuracy of all";
}

std::string workload_line(const ResultDocument& document) {
  const json& protocol = document.protocol;
  std::string line;
  for (const char* key : {"model", "dataset"}) {
    append(line, terminal_text(text_at(protocol, {key}).value_or("")), ", ");
  }
  append(line, batch_line(protocol), ", ");
  if (const auto batch = text_at(protocol, {"batch_size"}))
    append(line, "batch " + terminal_text(*batch), ", ");
  append(line, terminal_text(text_at(protocol, {"optimizer"}).value_or("")), ", ");
  const auto steps = whole(protocol, "steps");
  if (steps && *steps > 0) {
    append(line, fmt::format("{} steps", *steps), ", ");
  } else if (const auto epochs = whole(protocol, "epochs")) {
    append(line, fmt::format("{} epoch{}", *epochs, *epochs == 1 ? "" : "s"), ", ");
  }
  return line;
}

}  // namespace precbench
