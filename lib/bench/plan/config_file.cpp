#include "bench/plan/config_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/plan/options.h"
#include "bench/platform/paths.h"
#include "common/errors.h"
#include "common/json_input.h"
#include "common/limits.h"
#include "common/suggest.h"

namespace precbench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> config_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(share_dir()) / "configs", ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_file(const std::string& named) {
  std::error_code ignored;
  // A pipe is as good as a file: --config <(jq ... workload.json)
  if (fs::exists(named, ignored) && !fs::is_directory(named, ignored)) return named;
  const std::vector<std::string> names = config_names();
  if (std::find(names.begin(), names.end(), named) != names.end()) {
    return fs::path(share_dir()) / "configs" / (named + ".json");
  }
  std::string message = "no configuration '" + named + "': there is no such file, nor such a name";
  if (const auto guess = nearest(named, names)) message += "; did you mean '" + *guess + "'?";
  throw UsageError(message + "\n       names: " + joined(names));
}

// A key that stands twice is refused: the second would silently win.
json parsed(const std::string& text, const std::string& path) {
  try {
    return json_from_text(text, RepeatedKeys::refused);
  } catch (const JsonLimitError& error) {
    throw UsageError(path + ": " + error.what());
  } catch (const json::exception& error) {
    throw UsageError(path + ": not JSON: " + error.what());
  }
}

const OptionSpec& option_of_key(const std::string& key, const std::string& path) {
  std::vector<std::string> keys;
  for (const OptionSpec& option : option_table()) {
    if (option.name == "config" || option.is_hidden) continue;
    if (config_key(option) == key) return option;
    keys.push_back(config_key(option));
  }
  std::string message = path + ": unknown key '" + key + "'";
  if (const auto guess = nearest(key, keys)) message += "; did you mean '" + *guess + "'?";
  throw UsageError(message +
                   "\n       keys are the option names of --help-all with underscores, and about");
}

}  // namespace

ConfigFile load_config(const std::string& named) {
  const fs::path file = find_file(named);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UsageError(file.string() + ": cannot be read");
  std::string text(limits::kConfigFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > limits::kConfigFileBytes)
    throw UsageError(file.string() + ": too large for a configuration (over 1 MiB)");

  ConfigFile config;
  config.path = file.string();
  config.name = file.stem().string();
  const json document = parsed(text, config.path);
  if (!document.is_object()) throw UsageError(config.path + ": must hold one JSON object");
  for (const auto& [key, value] : document.items()) {
    if (key == "about") {
      if (!value.is_string()) throw UsageError(config.path + ": about must be a text");
      config.about = value.get<std::string>();
    } else {
      config.values[option_of_key(key, config.path).name] = value;
    }
  }
  return config;
}

std::vector<ConfigFile> list_configs() {
  std::vector<ConfigFile> configs;
  for (const std::string& name : config_names()) {
    configs.push_back(load_config((fs::path(share_dir()) / "configs" / (name + ".json")).string()));
  }
  return configs;
}

}  // namespace precbench
