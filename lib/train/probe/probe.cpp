#include "train/probe/probe.h"

#include <functional>
#include <string>

#include "train/probe/number_format.h"
#include "train/probe/rates.h"

namespace precbench::train {
namespace {

constexpr double kSecondsPerRate = 0.5;

struct Format {
  const char* name;
  at::ScalarType type;
  bool tf32;
};

// What fails is null with LibTorch's own words; the rest is measured all the same.
void put(json& found, const char* key, const std::function<json()>& measure) {
  try {
    found[key] = measure();
  } catch (const c10::Error& error) {
    found[key] = nullptr;
    found["unknown"][key] = error.what_without_backtrace();
  }
}

json probe_format(DeviceModule& device, const Format& format) {
  device.set_tf32(format.tf32, format.tf32);
  json found = {{"unknown", json::object()}};
  put(found, "gemm", [&] { return gemm_rate(device, format.type, kSecondsPerRate); });
  put(found, "convolution", [&] { return convolution_rate(device, format.type, kSecondsPerRate); });
  put(found, "numbers", [&] { return number_properties(device.device(), format.type); });
  return found;
}

json probe_float8(DeviceModule& device) {
  json found = {{"convolution", nullptr}, {"numbers", nullptr}, {"unknown", json::object()}};
  found["unknown"]["convolution"] = "LibTorch has no FP8 convolution";
  found["unknown"]["numbers"] = "FP8 numbers are multiplied in matrix products alone";
  put(found, "gemm", [&] { return float8_gemm_rate(device, kSecondsPerRate); });
  return found;
}

}  // namespace

json probe(DeviceModule& device) {
  constexpr Format kFormats[] = {{"float32", at::kFloat, false},
                                 {"tf32", at::kFloat, true},
                                 {"float16", at::kHalf, false},
                                 {"bfloat16", at::kBFloat16, false},
                                 {"float64", at::kDouble, false}};
  json formats = json::object();
  for (const Format& format : kFormats) {
    if (format.tf32 && !device.tf32_matmul()) continue;  // a device that has no TF32
    formats[format.name] = probe_format(device, format);
  }
  formats["float8"] = probe_float8(device);
  return {{"formats", formats}};
}

}  // namespace precbench::train
