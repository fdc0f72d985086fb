#include <array>

#include "train/simulated_gpu/kernels/kernels.h"

namespace precbench::train::simulated {
namespace {

// cuDNN computes these as a whole, with buffers whose sizes it alone knows.
void refuse_recurrent_layer(const c10::OperatorHandle& operation, torch::jit::Stack* /*stack*/) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "the simulated GPU does not know ", operation.schema().name(),
                              ": recurrent layers (LSTM, GRU, RNN) are computed by cuDNN, whose "
                              "buffers are not simulated; measure this model on a card");
}

}  // namespace

void register_recurrent_layers(torch::Library& library) {
  constexpr std::array<const char*, 8> kLayers = {
      "lstm.input",     "lstm.data",     "gru.input",      "gru.data",
      "rnn_tanh.input", "rnn_tanh.data", "rnn_relu.input", "rnn_relu.data"};
  for (const char* layer : kLayers) {
    library.impl(layer, torch::CppFunction::makeFromBoxedFunction<&refuse_recurrent_layer>());
  }
}

}  // namespace precbench::train::simulated
