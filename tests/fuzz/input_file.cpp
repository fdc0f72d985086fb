#include "input_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace precbench::fuzz {

InputFile::InputFile(std::string_view bytes) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count <= 0) throw std::system_error(errno, std::generic_category(), "write");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

InputFile::~InputFile() { close(descriptor_); }

}  // namespace precbench::fuzz
