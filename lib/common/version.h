// Version and origin of this build; values come from the generated version.cpp
// (cmake/version.cmake).
#pragma once

#include <optional>
#include <string>

namespace precbench {

std::string tool_version();                 // "0.1.0"
std::optional<std::string> tool_git_sha();  // nothing outside a git checkout
std::string tool_git_sha_unknown_reason();  // why, when there is none
std::string tool_build_type();              // "Release", "Debug"
std::string tool_compiler();                // "GNU 12.2.0"

}  // namespace precbench
