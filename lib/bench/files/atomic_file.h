// Files that are complete or not there.
#pragma once

#include <string>

namespace precbench {

// Writes to a temporary file beside `path`, fsyncs, renames, and fsyncs the folder. A symbolic link
// stays one: the file behind it is replaced. What cannot be replaced (a device, a pipe) gets the
// text as it is, and "-" is standard output. Throws FileError naming the path and the reason.
void write_atomically(const std::string& path, const std::string& text);

// The same under a name that nobody else has: where `stem`.json exists, `stem`-2.json and so on.
// Returns the path.
std::string create_atomically(const std::string& stem, const std::string& text);

// Removes what writers that were killed have left in a folder; files that are being written stay.
void sweep_temporary_files(const std::string& folder);

// Creates and removes a file there; 0, or the errno of what went wrong. Permission bits do not tell
// (root, read-only mounts, full disks).
int try_writing_into(const std::string& folder);

// Where writing to `path` will put a file: behind symbolic links; empty for what is no file (a
// device, a pipe, "-").
std::string file_behind(const std::string& path);

// Does a path that is to be written name a folder: it ends in '/', or is one.
bool names_folder(const std::string& path);

}  // namespace precbench
