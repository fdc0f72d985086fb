#include "train/simulated_gpu/weightless.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "train/simulated_gpu/tensors.h"

namespace precbench::train::simulated {
namespace {

// A dispatch key that LibTorch leaves to modes like this one: above all others, and on for a thread
// while the scope lives.
constexpr auto kModeKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

void redirect(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(kModeKey);
  const auto& arguments = operation.schema().arguments();
  bool takes_tensors = false;
  c10::IValue* device = nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = (*stack)[stack->size() - arguments.size() + i];
    takes_tensors |= value.isTensor() || value.isTensorList();
    if (arguments[i].name() == "device") device = &value;
  }
  // A device that was named stays: scalars and tensors made from lists live on the CPU.
  if (device != nullptr && device->isNone() && !takes_tensors) *device = kWeightless;
  operation.callBoxed(stack);
}

}  // namespace

void register_weightless_mode(torch::Library& library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&redirect>());
}

std::shared_ptr<void> make_weightless_scope() {
  return std::make_shared<c10::impl::IncludeDispatchKeyGuard>(kModeKey);
}

}  // namespace precbench::train::simulated
