#include "bench/probe/probe_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/files/atomic_file.h"
#include "bench/files/sha256.h"
#include "bench/files/text_file.h"
#include "bench/platform/cpu.h"
#include "bench/worker/worker_command.h"
#include "common/json_input.h"
#include "common/json_text.h"
#include "common/version.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Another file under the same name has another time or size.
std::string identity_of(const std::string& path) {
  struct stat file {};
  if (path.empty() || stat(path.c_str(), &file) != 0) return path;
  return path + " " + std::to_string(file.st_size) + " " + std::to_string(file.st_mtim.tv_sec) +
         "." + std::to_string(file.st_mtim.tv_nsec);
}

std::string gpus_and_driver() {
  std::string text = read_text_file("/proc/driver/nvidia/version").value_or("");
  std::vector<std::string> gpus;
  std::error_code none;
  for (const auto& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    gpus.push_back(read_text_file((gpu.path() / "information").string()).value_or(""));
  }
  std::sort(gpus.begin(), gpus.end());
  for (const std::string& gpu : gpus) text += gpu;
  return text;
}

}  // namespace

std::string probe_key(const std::string& device, int64_t threads) {
  const CpuFacts cpu = read_cpu_facts();
  std::string key = "precbench " + tool_version() + "\ndevice " + device + "\nthreads " +
                    std::to_string(threads) + "\ncpu " + cpu.model;
  for (const std::string& flag : cpu.flags) key += " " + flag;
  const auto& [worker, arguments, libtorch] = worker_command_from_environment();
  key += "\nworker " + identity_of(worker);
  key += "\nlibtorch " + (libtorch.empty() ? "" : identity_of(libtorch + "/lib/libtorch_cpu.so"));
  key += "\nvisible " + variable("CUDA_VISIBLE_DEVICES");
  key += "\n" + gpus_and_driver();
  return key;
}

std::string probe_cache_file(const std::string& key) {
  std::string folder = variable("XDG_CACHE_HOME");
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") + "/.cache";
  if (folder.empty()) return "";
  constexpr size_t kDigits = 16;
  return folder + "/precbench/probe-" + sha256_of(key).substr(0, kDigits) + ".json";
}

std::optional<json> load_probe(const std::string& key) {
  const std::string path = probe_cache_file(key);
  const auto text = path.empty() ? std::nullopt : read_text_file(path);
  if (!text) return std::nullopt;
  try {
    json document = json_from_text(*text);
    if (document.is_object() && document.contains("key") && document["key"] == key) return document;
  } catch (const JsonLimitError&) {  // measured again, as below
  } catch (const json::exception&) {
  }
  return std::nullopt;
}

void save_probe(const std::string& key, const json& document) {
  const std::string path = probe_cache_file(key);
  if (path.empty()) return;
  std::error_code ignored;  // write_atomically says what is wrong
  fs::create_directories(fs::path(path).parent_path(), ignored);
  json kept = document;
  kept["key"] = key;
  write_atomically(path, json_text(kept) + "\n");
}

}  // namespace precbench
