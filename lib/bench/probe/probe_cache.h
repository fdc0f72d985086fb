// A probe's result is kept for the machine, its driver and its LibTorch, so that asking again takes
// no time and `run` can set its figures beside the ceiling.
#pragma once

#include <optional>
#include <string>

#include "common/json_fields.h"

namespace precbench {

// Everything that a probe's figures depend on and that is known without starting a worker: CPU,
// GPUs and driver (/proc/driver/nvidia), the worker's file, its LibTorch, the device and the
// threads asked for, this version.
std::string probe_key(const std::string& device, int64_t threads);

// $XDG_CACHE_HOME/precbench/probe-<hash of the key>.json, else below ~/.cache. Empty where neither
// variable is set: then nothing is kept.
std::string probe_cache_file(const std::string& key);

// Nothing when there is none for this key, or what is there cannot be read.
std::optional<json> load_probe(const std::string& key);

// Creates the folder. Throws FileError where it cannot be written.
void save_probe(const std::string& key, const json& document);

}  // namespace precbench
