#include "train/parallel/ranks.h"

#include <dlfcn.h>

#include "train/base/errors.h"
#include "train/device/module_folder.h"

namespace precbench::train {
namespace {

constexpr const char* kRanksLibrary = "libprecbench_gloo.so";

}  // namespace

torch::Tensor Ranks::mean(const torch::Tensor& scalar) {
  torch::Tensor sum_of_all = scalar.detach().clone();
  sum(sum_of_all);
  return sum_of_all.div_(size());
}

double Ranks::largest(double value) {
  torch::Tensor values = torch::full({1}, value, torch::kDouble);
  maximum(values);
  return values.item<double>();
}

std::vector<int64_t> Ranks::each(int64_t value) {
  torch::Tensor values = torch::zeros({size()}, torch::kLong);
  values[rank()] = value;
  sum(values);
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + size()};
}

std::optional<std::string> missing_for_ranks() {
  if (std::filesystem::exists(module_folder() / kRanksLibrary)) return std::nullopt;
  return std::string("several devices need ") + kRanksLibrary +
         ", which was not built: install libgloo-dev (Debian, Ubuntu) and build again with "
         "scripts/precbench";
}

std::unique_ptr<Ranks> meet(const Meeting& meeting) {
  if (const auto missing = missing_for_ranks()) throw UnsupportedError(*missing);
  const auto path = module_folder() / kRanksLibrary;
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (module == nullptr) {
    throw UnsupportedError(std::string("several devices need ") + kRanksLibrary +
                           ", which does not load: " + dlerror());
  }
  auto* open = reinterpret_cast<Meet*>(dlsym(module, kMeetSymbol));
  if (open == nullptr) {
    throw UnsupportedError(std::string(kRanksLibrary) + " does not export " + kMeetSymbol);
  }
  return std::unique_ptr<Ranks>(open(meeting));
}

// Gloo's errors name its source file; the store's are c10d's own.
bool tells_of_a_lost_rank(std::string_view message) {
  for (const char* words : {"gloo/", "Connection closed by peer", "wait timeout", "Timed out"}) {
    if (message.find(words) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace precbench::train
