// Who trains: precbench-worker (libtorch), or Lightning Fabric in Python (fabric). A row of a
// comparison is a mode in an engine; in another engine than the first, its name says so:
// "bf16-mixed/fabric".
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace precbench {

inline constexpr std::string_view kLibtorchEngine = "libtorch";
inline constexpr std::string_view kFabricEngine = "fabric";
inline constexpr std::array<std::string_view, 2> kEngines = {kLibtorchEngine, kFabricEngine};

inline std::string row_name(std::string_view mode, std::string_view engine) {
  std::string name(mode);
  return engine == kLibtorchEngine ? name : name.append("/").append(engine);
}

inline std::string engine_of_row(std::string_view row) {
  const std::string end = "/" + std::string(kFabricEngine);
  return std::string(row.ends_with(end) ? kFabricEngine : kLibtorchEngine);
}

inline std::string mode_of_row(std::string_view row) {
  const bool is_named = engine_of_row(row) != kLibtorchEngine;
  return std::string(row.substr(0, is_named ? row.rfind('/') : row.size()));
}

}  // namespace precbench
