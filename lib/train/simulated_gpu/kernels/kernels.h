// Operations of the simulated device that run_any_operation() cannot do, by family. Each function
// registers its kernels for the CUDA dispatch key.
#pragma once

#include <torch/library.h>

namespace precbench::train::simulated {

void register_tensor_kernels(torch::Library& library);
void register_convolutions(torch::Library& library);
void register_normalizations(torch::Library& library);
void register_attention(torch::Library& library);
void register_reductions(torch::Library& library);
void register_losses(torch::Library& library);
void register_indexing(torch::Library& library);
void register_amp_kernels(torch::Library& library);
void register_float8_kernels(torch::Library& library);
void register_recurrent_layers(torch::Library& library);

// Operations with a CUDA kernel and a composite one: without a kernel of ours the composite would
// run, with other temporaries and without an error.
void register_instead_of_composites(torch::Library& library);

}  // namespace precbench::train::simulated
