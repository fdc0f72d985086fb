#include "train/models/registry.h"

#include "common/names.h"
#include "train/errors.h"
#include "train/models/cnn.h"
#include "train/models/mlp.h"

namespace precbench::train {

std::unique_ptr<Model> make_model(const std::string& name, const SampleShape& shape,
                                  const json& /*options*/, GemmBackend gemm) {
  if (name == "cnn") return std::make_unique<Cnn>(shape, gemm);
  if (name == "mlp") return std::make_unique<Mlp>(shape, gemm);
  throw UnsupportedError("model '" + name + "' is not in this version");
}

}  // namespace precbench::train
