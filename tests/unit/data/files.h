// Files for the readers' tests: built byte by byte as the formats' descriptions say, in a folder of
// its own for each test.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/errors.h"

namespace precbench::data {

inline std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

inline std::string idx_images(uint32_t count, uint32_t height, uint32_t width,
                              const std::string& pixels) {
  return std::string("\0\0\x08\x03", 4) + big_endian(count) + big_endian(height) +
         big_endian(width) + pixels;
}

inline std::string idx_labels(uint32_t count, const std::string& values) {
  return std::string("\0\0\x08\x01", 4) + big_endian(count) + values;
}

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "precbench-data-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string file(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::string gzip_file(const std::string& name, const std::string& bytes) const {
    gzFile out = gzopen(path(name).c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    return path(name);
  }

  // A .tar.gz of regular files, folders included in their names.
  std::string tar_gz_file(const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& entries) const {
    archive* out = archive_write_new();
    archive_write_add_filter_gzip(out);
    archive_write_set_format_ustar(out);
    archive_write_open_filename(out, path(name).c_str());
    for (const auto& [entry_name, bytes] : entries) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, entry_name.c_str());
      archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      archive_write_header(out, entry);
      archive_write_data(out, bytes.data(), bytes.size());
      archive_entry_free(entry);
    }
    archive_write_free(out);
    return path(name);
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // The message of the FileError that `read` must throw.
  template <typename Read>
  static std::string failure(Read read) {
    try {
      read();
    } catch (const FileError& error) {
      EXPECT_EQ(error.code(), ExitCode::file);
      return error.what();
    }
    return "no error";
  }

  std::string folder_;
};

}  // namespace precbench::data
