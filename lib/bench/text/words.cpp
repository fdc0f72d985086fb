#include "bench/text/words.h"

namespace precbench {

std::string_view words_for(Status status) {
  switch (status) {
    case Status::oom:
      return "out of memory";
    case Status::timeout:
      return "timed out";
    default:
      return name_of(status);
  }
}

}  // namespace precbench
