// Configuration files: one JSON object, its keys are option names with underscores; `about` says
// what it is for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/json_fields.h"

namespace precbench {

struct ConfigFile {
  std::string path;  // as errors name it
  std::string name;  // without folder and ending
  std::string about;
  std::map<std::string, json> values;  // option name -> value
};

// `named` is a path, or the name of a file in configs/ of the installation. Throws UsageError: not
// found (naming what there is), not JSON, an unknown or a repeated key, a nested --config.
ConfigFile load_config(const std::string& named);

// The ready-made configurations, sorted by name.
std::vector<ConfigFile> list_configs();

}  // namespace precbench
