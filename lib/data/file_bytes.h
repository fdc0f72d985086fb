// Whole files from outside as bytes: plain or gzip, with errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace precbench::data {

// The content of `path`, inflated when it is gzip (by its content, not its name). At most
// `max_bytes`: a compressed bomb must not fill the memory. Throws FileError: missing, unreadable,
// truncated, corrupt or too long.
std::vector<uint8_t> read_file(const std::string& path, size_t max_bytes);

}  // namespace precbench::data
