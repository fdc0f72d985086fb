#include "train/base/run_state.h"

#include <fstream>

#include "common/checkpoint_file.h"
#include "common/errors.h"

namespace precbench::train {
namespace {

[[noreturn]] void refuse_state(const std::string& path, const std::string& why) {
  throw FileError("the checkpoint '" + path + "' does not fit this run: " + why +
                  "\n       remove it to begin the run anew");
}

// Of memory that has no gaps, so that its bytes are the tensor.
torch::Tensor without_gaps(const torch::Tensor& tensor) {
  const torch::Tensor here = tensor.detach().cpu();
  return here.is_non_overlapping_and_dense() ? here : here.contiguous();
}

// A new tensor of what the header says, where its bytes fit.
torch::Tensor empty_as(const ObjectReader& stored, const std::string& path) {
  const auto sizes = stored.required<std::vector<int64_t>>("sizes");
  const auto strides = stored.required<std::vector<int64_t>>("strides");
  const auto type = stored.required<int64_t>("dtype");
  const auto bytes = stored.required<int64_t>("bytes");
  const bool is_type = type >= 0 && type < static_cast<int64_t>(c10::ScalarType::NumOptions);
  if (!is_type || sizes.size() != strides.size()) refuse_state(path, "it is of another kind");
  const auto dtype = static_cast<c10::ScalarType>(type);
  const auto elements = bytes / static_cast<int64_t>(c10::elementSize(dtype));
  int64_t count = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool fits = sizes[i] >= 0 && strides[i] >= 0 &&
                      strides[i] <= std::max<int64_t>(elements, 1) &&
                      (count == 0 || sizes[i] <= elements / count);
    if (!fits) refuse_state(path, "a tensor reaches outside its bytes");
    count *= sizes[i];
  }
  if (count != elements) refuse_state(path, "a tensor has other sizes than bytes");
  torch::Tensor tensor = torch::empty_strided(sizes, strides, dtype);
  if (!tensor.is_non_overlapping_and_dense()) refuse_state(path, "a tensor has gaps");
  return tensor;
}

}  // namespace

RunState::RunState(const std::string& path) : restores_(true), path_(path) {
  const Checkpoint checkpoint = read_checkpoint(path);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(checkpoint.payload_begin));
  try {
    for (const ObjectReader& stored : ObjectReader(checkpoint.header, "").objects("tensors")) {
      torch::Tensor tensor = empty_as(stored, path);
      const auto bytes = static_cast<std::streamsize>(tensor.nbytes());
      if (!file.read(static_cast<char*>(tensor.data_ptr()), bytes)) {
        refuse_state(path, "it was changed while it was read");
      }
      tensors_[stored.required<std::string>("name")] = tensor;
    }
  } catch (const JsonFieldError& error) {
    refuse_state(path, error.what());
  }
  values_ = checkpoint.header.at("values");
}

const json& RunState::take(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) refuse_state(path_, "it has no " + name);
  return *found;
}

void RunState::tensor(const std::string& name, torch::Tensor& value, torch::Device device) {
  torch::NoGradGuard no_grad;
  if (!restores_) {
    if (value.defined()) tensors_[name] = value;
    return;
  }
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    if (value.defined()) refuse_state(path_, "it has no " + name);
    return;
  }
  if (!value.defined()) {
    value = found->second.to(device);
  } else if (value.sizes() != found->second.sizes() ||
             value.scalar_type() != found->second.scalar_type()) {
    refuse_state(path_, name + " has other sizes or another type");
  } else {
    torch::Tensor place = value.detach();
    place.copy_(found->second);
  }
}

void RunState::numbers(const std::string& name, std::vector<double>& values) {
  torch::Tensor tensor;
  if (!restores_) tensor = torch::tensor(values, torch::kDouble);
  this->tensor(name, tensor);
  if (!restores_) return;
  if (!tensor.defined() || tensor.scalar_type() != torch::kDouble || tensor.dim() != 1) {
    refuse_state(path_, "it has no " + name);
  }
  const auto* begin = tensor.contiguous().data_ptr<double>();
  values.assign(begin, begin + tensor.numel());
}

void RunState::write(const std::string& path, const json& identity, int64_t step) const {
  json header = {
      {"identity", identity}, {"step", step}, {"values", values_}, {"tensors", json::array()}};
  std::vector<torch::Tensor> kept;
  std::vector<std::string_view> payload;
  for (const auto& [name, tensor] : tensors_) {
    const torch::Tensor& bytes = kept.emplace_back(without_gaps(tensor));
    header["tensors"].push_back({{"name", name},
                                 {"dtype", static_cast<int64_t>(bytes.scalar_type())},
                                 {"sizes", bytes.sizes().vec()},
                                 {"strides", bytes.strides().vec()},
                                 {"bytes", bytes.nbytes()}});
    payload.emplace_back(static_cast<const char*>(bytes.data_ptr()), bytes.nbytes());
  }
  write_checkpoint(path, header, payload);
}

}  // namespace precbench::train
