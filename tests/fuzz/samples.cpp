#include "samples.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <stdexcept>
#include <vector>

namespace precbench::fuzz {

std::string sample_idx_images() {
  return std::string("\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x04", 16) + "abcdefghijklmnopqrstuvwx";
}

std::string sample_idx_labels() { return {"\0\0\x08\x01\0\0\0\x03\0\x09\x05", 11}; }

std::string sample_cifar_tar() {
  std::string bytes(size_t{1} << 16, '\0');
  size_t used = 0;
  archive* out = archive_write_new();
  archive_write_set_format_ustar(out);
  archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  const std::string record = std::string(1, '\x07') + std::string(3072, 'x');
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, (std::string("cifar-10-batches-bin/") + name).c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(record.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(out, entry);
    archive_write_data(out, record.data(), record.size());
    archive_entry_free(entry);
  }
  archive_write_free(out);
  bytes.resize(used);
  return bytes;
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  constexpr int kGzipFormat = 16;  // zlib.h, deflateInit2
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipFormat, MAX_MEM_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::vector<Bytef> input(bytes.begin(), bytes.end());
  std::string packed(deflateBound(&stream, static_cast<uLong>(input.size())), '\0');
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}

}  // namespace precbench::fuzz
