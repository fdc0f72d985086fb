#include "bench/report/html/skeleton.h"

#include <openssl/evp.h>

#include "bench/files/sha256.h"
#include "bench/text/escape.h"

namespace precbench {
namespace embedded {
extern const char* const page_css;
}  // namespace embedded

namespace html {
namespace {

// A source of a Content-Security-Policy: 'sha256-<base64>'.
std::string csp_hash(std::string_view text) {
  const std::string hex = sha256_of(text);
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  std::string base64(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(base64.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  base64.resize(static_cast<size_t>(length));
  return "'sha256-" + base64 + "'";
}

}  // namespace

std::string head(const std::string& title, const std::vector<std::string_view>& scripts) {
  std::string sources;
  for (const std::string_view script : scripts) sources += " " + csp_hash(script);
  const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; script-src" +
                             (sources.empty() ? " 'none'" : sources) + "; style-src " +
                             csp_hash(embedded::page_css);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         policy +
         "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         html_text(title) + "</title>\n<style>" + embedded::page_css +
         "</style>\n</head>\n<body>\n<main>\n";
}

}  // namespace html
}  // namespace precbench
