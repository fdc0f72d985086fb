#include "bench/result/protocol_hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace precbench {

std::string protocol_hash(const json& protocol) {
  json hashed = protocol;
  hashed.erase("hash");
  // nlohmann::json keeps keys sorted.
  const std::string text = hashed.dump(-1, ' ', false, json::error_handler_t::replace);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available");
  }
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest.at(i));
  return hex;
}

}  // namespace precbench
