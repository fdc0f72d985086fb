#include "bench/files/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

#include "common/errors.h"

namespace precbench {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const void* bytes, size_t count) { EVP_DigestUpdate(context_.get(), bytes, count); }
  std::string hexadecimal() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
      text += kDigits[digest[i] >> 4];
      text += kDigits[digest[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hexadecimal();
}

std::string sha256_of_files(const std::vector<std::string>& paths) {
  Sha256 hash;
  std::vector<char> block(kBlockBytes);
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw FileError("'" + path + "' cannot be read");
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())) ||
           file.gcount() > 0) {
      hash.add(block.data(), static_cast<size_t>(file.gcount()));
    }
  }
  return hash.hexadecimal();
}

}  // namespace precbench
