#include "common/checkpoint_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../temporary.h"
#include "common/errors.h"

namespace precbench::checkpoint_file_test {
namespace {

using testing::HasSubstr;

class CheckpointFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string error_of(const std::string& path) const {
    try {
      read_checkpoint(path);
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }
  std::string write(int64_t step, const std::string& bytes) const {
    const std::string path = checkpoint_path(folder_ + "/run", step);
    write_checkpoint(path,
                     {{"identity", {{"LibTorch", "2.11.0"}}},
                      {"step", step},
                      {"values", json::object()},
                      {"tensors", {{{"name", "weight"}, {"bytes", bytes.size()}}}}},
                     {bytes});
    return path;
  }
  static std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void replace(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  std::string folder_ = temporary_path("checkpoints");
};

TEST_F(CheckpointFile, ComesBack) {
  const std::string path = write(7, "four");
  const Checkpoint checkpoint = read_checkpoint(path);
  EXPECT_EQ(checkpoint.header.at("step"), 7);
  EXPECT_EQ(content_of(path).substr(checkpoint.payload_begin, 4), "four");
}

TEST_F(CheckpointFile, IsRefusedWhereverItIsCutOffOrChanged) {
  const std::string path = write(7, "four");
  const std::string whole = content_of(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    replace(path, whole.substr(0, i));
    EXPECT_NE(error_of(path), "") << "cut off at " << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    replace(path, changed);
    EXPECT_NE(error_of(path), "") << "changed at " << i;
  }
  replace(path, whole);
  EXPECT_EQ(error_of(path), "");
  EXPECT_THAT(error_of(folder_ + "/none"), HasSubstr("cannot be read"));
}

TEST_F(CheckpointFile, ThatPromisesMoreThanItHasIsRefused) {
  const std::string path = checkpoint_path(folder_ + "/run", 1);
  for (const json& bytes : {json(5), json(3), json(-1), json(uint64_t{1} << 62), json("4")}) {
    write_checkpoint(path,
                     {{"identity", json::object()},
                      {"step", 1},
                      {"values", json::object()},
                      {"tensors", {{{"bytes", bytes}}}}},
                     {"four"});
    EXPECT_NE(error_of(path), "") << bytes;
  }
}

TEST_F(CheckpointFile, OfOneRunAreFoundTheLatestFirst) {
  for (const int64_t step : {9, 100, 20}) write(step, "");
  replace(folder_ + "/run-2.30.checkpoint", "");
  replace(folder_ + "/run.x.checkpoint", "");
  replace(folder_ + "/run.checkpoint", "");
  std::vector<int64_t> steps;
  for (const CheckpointName& each : checkpoints_of(folder_ + "/run")) steps.push_back(each.step);
  EXPECT_THAT(steps, testing::ElementsAre(100, 20, 9));
  EXPECT_TRUE(checkpoints_of(folder_ + "/nowhere/run").empty());
}

}  // namespace
}  // namespace precbench::checkpoint_file_test
