// What a run has become so far, for a process that is to go on with it: each part of a run names
// what it keeps once, in an exchange() that saves and restores alike.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/json_fields.h"
#include "train/base/torch.h"

namespace precbench::train {

class RunState {
 public:
  RunState() = default;  // saves
  // Restores from a file that write() made. Throws FileError.
  explicit RunState(const std::string& path);

  bool restores() const { return restores_; }

  // Saving keeps a tensor as it is (what changes it before write() changes what is written) and
  // leaves out one that is undefined. Restoring copies into the one that is there, or makes one on
  // the device; throws FileError where the sizes differ.
  void tensor(const std::string& name, torch::Tensor& value, torch::Device device = torch::kCPU);
  void numbers(const std::string& name, std::vector<double>& values);

  // What JSON holds exactly.
  template <typename T>
  void value(const std::string& name, T& value) {
    if (restores_) {
      take(name).get_to(value);
    } else {
      values_[name] = value;
    }
  }
  template <typename T>
  void value(const std::string& name, std::optional<T>& value) {
    if (!restores_) {
      values_[name] = value ? json(*value) : json(nullptr);
    } else if (const json& stored = take(name); !stored.is_null()) {
      value = stored.get<T>();
    }
  }
  void value(const std::string& name, json& value) {
    if (restores_) {
      value = take(name);
    } else {
      values_[name] = value;
    }
  }

  // Throws FileError.
  void write(const std::string& path, const json& identity, int64_t step) const;

 private:
  const json& take(const std::string& name) const;  // throws FileError where it is missing

  bool restores_ = false;
  std::string path_;
  std::map<std::string, torch::Tensor> tensors_;
  json values_ = json::object();
};

}  // namespace precbench::train
