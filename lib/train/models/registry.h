// Builds the models named in common/names.h. A model is one file here: its class and, at the end,
// its registration; plus its row in common/names.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/json_fields.h"
#include "train/data/sample_shape.h"
#include "train/models/layers.h"
#include "train/models/model.h"

namespace precbench::train {

// Draws the weights from the global CPU generator, in PyTorch's order. Throws UnsupportedError for
// a name that this version lacks and std::invalid_argument for an option that the model does not
// take, or a shape that it cannot.
std::unique_ptr<Model> make_model(const std::string& name, const SampleShape& shape,
                                  const json& options, GemmBackend gemm);

using ModelFactory = std::unique_ptr<Model> (*)(const SampleShape&, const json& options,
                                                GemmBackend);

// Made at namespace scope in the model's file (the worker's library is linked whole, so that none
// is left out).
struct ModelRegistration {
  ModelRegistration(std::string_view name, ModelFactory make);
};

// The factory of a model whose constructor takes shape and gemm and which has no options.
template <typename ModelType>
std::unique_ptr<Model> construct(const SampleShape& shape, const json& /*options*/,
                                 GemmBackend gemm) {
  return std::make_unique<ModelType>(shape, gemm);
}

// The same with options.
template <typename ModelType>
std::unique_ptr<Model> construct_with_options(const SampleShape& shape, const json& options,
                                              GemmBackend gemm) {
  return std::make_unique<ModelType>(shape, options, gemm);
}

}  // namespace precbench::train
