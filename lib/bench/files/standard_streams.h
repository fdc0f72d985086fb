// The process's standard streams, in whatever state it got them: closed, full, or a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace precbench {

// First thing in main. What is closed is opened so that using it fails as before, while no file of
// ours gets its number; a file that grows too large (ulimit -f) is an error, not our end.
void prepare_standard_streams();

// A failure is remembered: what there is to do afterwards (saving runs) is done all the same.
void write_stdout(std::string_view text);

// Why not all of standard output could be written; nothing when it could.
std::optional<std::string> stdout_failure();

// Columns of lines on `stream` (a file descriptor): COLUMNS where it is set, else the terminal's;
// 0 = no limit, for a file or a pipe.
size_t columns_for(int stream);

}  // namespace precbench
