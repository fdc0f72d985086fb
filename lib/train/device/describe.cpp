#include "train/device/describe.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include "train/base/torch.h"
#include "train/device/cpu_device.h"

namespace caffe2 {
// Declared in caffe2/core/common.h, which not every wheel ships.
TORCH_API const std::map<std::string, std::string>& GetBuildOptions();
}  // namespace caffe2

namespace precbench::train {
namespace {

std::optional<std::string> build_option(const std::string& key) {
  const auto& options = caffe2::GetBuildOptions();
  const auto option = options.find(key);
  if (option == options.end() || option->second.empty()) return std::nullopt;
  return option->second;
}

// "Intel(R) oneAPI Math Kernel Library Version 2024.2 ..." or a sentence that it was not found.
std::optional<std::string> if_built(const std::string& text) {
  if (text.empty() || text.find("not found") != std::string::npos) return std::nullopt;
  return text;
}

}  // namespace

std::string libtorch_version() { return build_option("TORCH_VERSION").value_or(TORCH_VERSION); }

std::optional<std::string> libtorch_cuda_version() { return build_option("CUDA_VERSION"); }

json describe(const DeviceModule& device) {
  json unknown = json::object();
  const auto cuda = libtorch_cuda_version();
  if (!cuda) unknown["cuda_built"] = "this LibTorch was built without CUDA";
  const auto mkl = if_built(at::get_mkl_version());
  const auto onednn = if_built(at::get_mkldnn_version());
  if (!mkl) unknown["mkl"] = "this LibTorch was built without MKL";
  if (!onednn) unknown["onednn"] = "this LibTorch was built without oneDNN";
  json devices = json::array({to_json(CpuDevice().facts())});
  if (!device.is_cpu()) devices.push_back(to_json(device.facts()));
  return {{"libtorch", {{"version", libtorch_version()}, {"cuda_built", nullable(cuda)}}},
          {"cpu",
           {{"capability", at::get_cpu_capability()},
            {"mkl", nullable(mkl)},
            {"onednn", nullable(onednn)},
            {"threads", at::get_num_threads()}}},
          {"devices", devices},
          {"unknown", unknown}};
}

}  // namespace precbench::train
