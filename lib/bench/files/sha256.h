// SHA-256 as lower-case hexadecimal digits (OpenSSL).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace precbench {

std::string sha256_of(std::string_view bytes);

// Of the files' bytes one after the other, as they lie on disk. Throws FileError.
std::string sha256_of_files(const std::vector<std::string>& paths);

}  // namespace precbench
