// Where the parts of precbench are, found from /proc/self/exe, so that the tree can be moved.
#pragma once

#include <string>

namespace precbench {

std::string executable_dir();

// share/precbench of the installed tree; for a build tree the source folder, found by walking up to
// the folder that has configs/. Empty when there is neither.
std::string share_dir();

}  // namespace precbench
