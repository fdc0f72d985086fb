#include "bench/files/standard_streams.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace precbench {
namespace {

constexpr size_t kUnknownTerminalColumns = 80;  // of a terminal that does not tell its width
constexpr size_t kLeastColumns = 20, kMostColumns = 10'000;

int first_stdout_error = 0;

void remember_failure(bool failed) {
  if (failed && first_stdout_error == 0) first_stdout_error = errno != 0 ? errno : EIO;
}

size_t columns_by_variable() {
  const char* value = std::getenv("COLUMNS");
  size_t columns = 0;
  if (value == nullptr) return 0;
  const char* end = value + std::strlen(value);
  const auto [stop, error] = std::from_chars(value, end, columns);
  const bool is_usable = error == std::errc() && stop == end && columns <= kMostColumns;
  return is_usable && columns >= kLeastColumns ? columns : 0;
}

}  // namespace

void prepare_standard_streams() {
  // The wrong way round, so that reading or writing them is an error still.
  constexpr int kAccess[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", kAccess[fd]);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

void write_stdout(std::string_view text) {
  errno = 0;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  remember_failure(!is_written || std::fflush(stdout) != 0);
}

std::optional<std::string> stdout_failure() {
  errno = 0;
  remember_failure(std::fflush(stdout) != 0 || std::ferror(stdout) != 0);
  if (first_stdout_error == 0) return std::nullopt;
  return std::strerror(first_stdout_error);
}

size_t columns_for(int stream) {
  if (const size_t columns = columns_by_variable(); columns > 0) return columns;
  if (::isatty(stream) != 1) return 0;
  winsize size{};
  if (::ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUnknownTerminalColumns;
  return std::max<size_t>(size.ws_col, kLeastColumns);
}

}  // namespace precbench
