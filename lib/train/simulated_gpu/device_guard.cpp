#include "train/simulated_gpu/device_guard.h"

#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

constexpr c10::DeviceIndex kDevices = 2;  // the card and the weightless device

class DeviceGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {c10::DeviceType::CUDA, current()}; }
  void setDevice(c10::Device device) const override { uncheckedSetDevice(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) current() = device.index();
  }
  c10::Stream getStream(c10::Device device) const override { return stream_of(device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream_of(device); }
  c10::Stream getNewStream(c10::Device device, int /*priority*/) const override {
    return stream_of(device);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool /*high*/) const override {
    return stream_of(device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  void record(void** /*event*/, const c10::Stream& /*stream*/, const c10::DeviceIndex /*device*/,
              const c10::EventFlag /*flag*/) const override {}
  void block(void* /*event*/, const c10::Stream& /*stream*/) const override {}
  bool queryEvent(void* /*event*/) const override { return true; }
  void destroyEvent(void* /*event*/, const c10::DeviceIndex /*device*/) const noexcept override {}
  bool queryStream(const c10::Stream& /*stream*/) const override { return true; }
  void synchronizeStream(const c10::Stream& /*stream*/) const override {}
  void recordDataPtrOnStream(const c10::DataPtr& /*data*/,
                             const c10::Stream& /*stream*/) const override {}

 private:
  static c10::DeviceIndex& current() {
    static thread_local c10::DeviceIndex index = 0;
    return index;
  }
  static c10::Stream stream_of(c10::Device device) {
    const c10::DeviceIndex index = device.has_index() ? device.index() : current();
    return c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::DeviceType::CUDA, index));
  }
};

}  // namespace

const c10::impl::DeviceGuardImplInterface& device_guard() {
  static const auto* const guard = new DeviceGuard;  // outlives static tensors
  return *guard;
}

}  // namespace precbench::train::simulated
