#include "train/simulated_gpu/cuda_hooks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include "train/simulated_gpu/capability.h"
#include "train/simulated_gpu/gpu.h"
#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

constexpr long kCudnn = 91900;  // LibTorch 2.11 for CUDA 13 comes with 9.19.0

// aten/src/ATen/cuda/detail/CUDAHooks.cpp is what the real ones say.
class CudaHooks final : public at::CUDAHooksInterface {
 public:
  explicit CudaHooks(at::CUDAHooksArgs /*arguments*/) {}

  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasCuDNN() const override { return true; }
  bool hasCuBLASLt() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*device*/) const override { return true; }
  c10::DeviceIndex current_device() const override { return 0; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  void deviceSynchronize(c10::DeviceIndex /*device*/) const override {}

  bool compiledWithCuDNN() const override { return true; }
  bool supportsDilatedConvolutionWithCuDNN() const override { return true; }
  bool supportsDepthwiseConvolutionWithCuDNN() const override {
    return gpu().capability() >= kVolta;
  }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override {
    return gpu().capability() >= kAmpere;
  }
  long versionCuDNN() const override { return kCudnn; }
  // Not in every LibTorch that is supported (2.8 lacks it), hence neither `virtual` nor `override`:
  // where the base class has it, this overrides it.
  long versionRuntimeCuDNN() const { return kCudnn; }
  double batchnormMinEpsilonCuDNN() const override { return 0; }  // CUDNN_BN_MIN_EPSILON
  std::string showConfig() const override { return "a simulated GPU\n"; }

  c10::Allocator* getCUDADeviceAllocator() const override { return storage_allocator(kCard); }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return c10::GetAllocator(c10::DeviceType::CPU);
  }
  at::Device getDeviceFromPtr(void* /*data*/) const override { return kCard; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*device*/) const override {
    static const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>();
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex /*device*/) const override {
    return at::make_generator<at::CPUGeneratorImpl>();
  }
};

}  // namespace

void register_cuda_hooks() {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", [](at::CUDAHooksArgs arguments) -> std::unique_ptr<at::CUDAHooksInterface> {
        return std::make_unique<CudaHooks>(arguments);
      });
}

}  // namespace precbench::train::simulated
