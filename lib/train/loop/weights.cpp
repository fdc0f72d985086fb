#include "train/loop/weights.h"

#include <caffe2/serialize/inline_container.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "common/errors.h"
#include "common/temporary_file.h"
#include "train/data/tensor_file.h"
#include "train/float8/float8_linear.h"

namespace precbench::train {
namespace {

std::map<std::string, torch::Tensor> state_of(const torch::nn::Module& module) {
  std::map<std::string, torch::Tensor> state;
  for (const auto& item : module.named_parameters()) state[item.key()] = item.value();
  for (const auto& item : module.named_buffers()) {
    if (item.value().defined()) state[item.key()] = item.value();
  }
  return state;
}

std::string shape_of(const torch::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

// What keeps `state` from fitting the module, as a list for the user; empty when it fits.
std::string misfit(const std::map<std::string, torch::Tensor>& module,
                   const std::map<std::string, torch::Tensor>& state) {
  std::string list;
  for (const auto& [name, tensor] : module) {
    const auto found = state.find(name);
    if (found == state.end()) {
      list += "\n       missing: " + name + " " + shape_of(tensor);
    } else if (found->second.sizes() != tensor.sizes()) {
      list += "\n       " + name + ": the file has " + shape_of(found->second) + ", the model " +
              shape_of(tensor);
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!module.contains(name)) list += "\n       not in the model: " + name;
  }
  return list;
}

// Whole at finish(), or the earlier file stays; a device or a pipe gets the bytes as they come.
// Throws FileError.
class WeightsFile {
 public:
  explicit WeightsFile(const std::string& path) : path_(path), target_(behind_links(path)) {
    struct stat status {};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists) mode_ = status.st_mode & 07777;
    if (exists && !S_ISREG(status.st_mode)) {
      direct_.emplace(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
      check(direct_->get() < 0 ? errno : 0);
    } else {
      temporary_.emplace(folder_of(target_));
      check(temporary_->append(""));
    }
  }

  // LibTorch's writer, which calls this, is no place to throw in: finish() tells.
  void append(std::string_view bytes) {
    if (temporary_) {
      temporary_->append(bytes);
    } else if (error_ == 0) {
      error_ = write_all(direct_->get(), bytes);
    }
  }

  void finish() {
    check(error_);
    if (!temporary_) return;
    check(temporary_->finish(mode_));
    check(temporary_->replace(target_));
  }

 private:
  void check(int error) const {
    if (error == 0) return;
    throw FileError("cannot write the weights " + path_ + ": " + std::strerror(error));
  }

  std::string path_, target_;
  mode_t mode_ = mode_of_new_files();
  std::optional<TemporaryFile> temporary_;
  std::optional<Descriptor> direct_;
  int error_ = 0;
};

constexpr const char* kHowToSave = "save one with torch.save(model.state_dict(), FILE)";

}  // namespace

// torch::pickle_save without its type tags, which weights_only=True refuses.
void save_weights(const torch::nn::Module& module, const std::string& path) {
  c10::Dict<std::string, torch::Tensor> dictionary;
  for (const auto& [name, tensor] : state_of(module)) {
    dictionary.insert(name, tensor.detach().cpu().contiguous());
  }
  std::string pickle;
  torch::jit::Pickler pickler([&](const char* bytes, size_t size) { pickle.append(bytes, size); },
                              nullptr, nullptr, nullptr, nullptr, /*tag_aggregates=*/false);
  pickler.protocol();
  pickler.pushIValue(dictionary);
  pickler.stop();
  WeightsFile file(path);
  caffe2::serialize::PyTorchStreamWriter archive([&](const void* bytes, size_t size) {
    file.append({static_cast<const char*>(bytes), size});
    return size;
  });
  archive.writeRecord("data.pkl", pickle.data(), pickle.size());
  size_t index = 0;
  for (const torch::Tensor& tensor : pickler.tensorData()) {
    const auto data = torch::jit::getWriteableTensorData(tensor);
    archive.writeRecord("data/" + std::to_string(index++), data.data(), data.sizeInBytes());
  }
  archive.writeEndOfFile();
  file.finish();
}

void require_writable(const std::string& path) { const WeightsFile file(path); }

void load_weights(torch::nn::Module& module, const std::string& path) {
  torch::NoGradGuard no_grad;
  const auto target = state_of(module);
  auto state = read_tensors(path, kHowToSave);
  std::erase_if(state, [](const auto& entry) { return is_float8_state(entry.first); });
  const std::string problems = misfit(target, state);
  if (!problems.empty()) throw FileError(path + " does not fit the model" + problems);
  for (const auto& [name, tensor] : target) {
    torch::Tensor place = tensor;
    place.copy_(state.at(name));
  }
}

void load_float8_state(torch::nn::Module& module, const std::string& path) {
  torch::NoGradGuard no_grad;
  const auto target = state_of(module);
  for (const auto& [name, tensor] : read_tensors(path, kHowToSave)) {
    const auto place = target.find(name);
    if (!is_float8_state(name) || place == target.end()) continue;
    if (place->second.sizes() != tensor.sizes()) {
      throw FileError(path + ": " + name + " has " + shape_of(tensor) + ", here it has " +
                      shape_of(place->second) + "; give --fp8-history as when it was saved");
    }
    torch::Tensor copy = place->second;
    copy.copy_(tensor);
  }
}

}  // namespace precbench::train
