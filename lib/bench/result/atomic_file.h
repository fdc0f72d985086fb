// Files that are complete or not there.
#pragma once

#include <string>

namespace precbench {

// Writes to a temporary file beside `path`, fsyncs, renames, and fsyncs the folder. Throws
// FileError naming the path and the system's reason.
void write_atomically(const std::string& path, const std::string& text);

}  // namespace precbench
