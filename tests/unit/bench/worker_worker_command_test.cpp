#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/worker/worker_command.h"
#include "common/errors.h"

namespace precbench::worker_worker_command_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(LibraryPath, HoldsNoEmptyFolderWhichWouldBeTheCurrentOne) {
  EXPECT_EQ(library_path("/torch", ""), "/torch/lib");
  EXPECT_EQ(library_path("/torch", "/a:/b"), "/torch/lib:/a:/b");
  for (const char* inherited : {":/a", "/a:", ":/a:", "::/a::"}) {
    EXPECT_EQ(library_path("/torch", inherited), "/torch/lib:/a") << inherited;
  }
  EXPECT_EQ(library_path("/torch", ":"), "/torch/lib");
}

// An installed tree with workers for 2.8 and 2.11, LibTorches of some releases, and Pythons.
class FindWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "precbench-worker-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    for (const char* release : {"2.11", "2.8"}) {
      file("libexec/precbench/" + std::string(release) + "/bin/precbench-worker", "");
    }
    fs::create_directories(folder_ + "/bin");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string torch(const std::string& name, const std::string& version_py) const {
    file(name + "/version.py", version_py);
    file(name + "/lib/libtorch_cpu.so", "");
    return folder_ + "/" + name;
  }
  // A Python that answers with one line, whatever it is asked.
  std::string python(const std::string& answer) const {
    const std::string path = file("python", "#!/bin/sh\necho '" + answer + "'\n");
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  std::string worker(const std::string& release) const {
    return folder_ + "/libexec/precbench/" + release + "/bin/precbench-worker";
  }
  WorkerCommand find(const std::string& libtorch, const std::string& python = "") const {
    return find_worker({folder_ + "/bin", "", libtorch, python});
  }
  std::string failure(const std::string& libtorch, const std::string& python = "") const {
    try {
      find(libtorch, python);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "no DeviceError";
  }

  std::string folder_;
};

TEST_F(FindWorker, TakesTheOneOfTheNamedLibTorchsRelease) {
  const std::string old = torch("old", "__version__ = '2.8.0+cu126'\n");
  const std::string recent =
      torch("recent", "from typing import Optional\n__version__ = '2.11.1'\n");
  EXPECT_EQ(find(old).path, worker("2.8"));
  EXPECT_EQ(find(old).libtorch_dir, old);
  EXPECT_EQ(find(recent).path, worker("2.11"));
  fs::remove(recent + "/version.py");
  file("recent/build-version", "2.8.0+cpu\n");  // a LibTorch without Python
  EXPECT_EQ(find(recent).path, worker("2.8"));
}

TEST_F(FindWorker, AsksThePythonThatItIsInstalledIn) {
  const std::string recent = torch("re cent", "__version__ = '2.11.0'\n");
  const WorkerCommand command = find("", python(recent));
  EXPECT_EQ(command.path, worker("2.11"));
  EXPECT_EQ(command.libtorch_dir, recent);
}

TEST_F(FindWorker, SaysWhatToDoWithoutATorch) {
  const std::string none = python("");
  EXPECT_EQ(failure("", none),
            "no torch to run on: " + none + " has none, and PRECBENCH_LIBTORCH is not set\n" +
                "       install one:  " + none +
                " -m pip install 'torch==2.11.*'  (any of 2.8 2.11)\n"
                "       or name a LibTorch of your own:  PRECBENCH_LIBTORCH=DIR  (with "
                "lib/libtorch_cpu.so in it)");
  EXPECT_THAT(failure("", folder_ + "/no-python"),
              HasSubstr("no-python does not start (No such file or directory)"));
}

TEST_F(FindWorker, SaysWhatToDoWithATorchThatHasNoWorker) {
  const std::string other = torch("other", "__version__ = '2.9.1+cu128'\n");
  EXPECT_THAT(failure(other), HasSubstr("is of release 2.9; workers are here for 2.8 2.11\n"));
  EXPECT_THAT(failure(other), HasSubstr("pip install 'torch==2.11.*'"));
  EXPECT_THAT(failure(other), HasSubstr("or name a LibTorch of your own:  PRECBENCH_LIBTORCH=DIR"));
  EXPECT_THAT(failure("", python(other)),
              HasSubstr("the torch in " + other + " is of release 2.9"));
  EXPECT_THAT(failure(torch("odd", "version = 2\n")), HasSubstr("is of an unknown release"));
  EXPECT_THAT(failure(folder_ + "/none"), HasSubstr("none has no lib/libtorch_cpu.so"));
  EXPECT_THAT(failure(torch("a:b", "__version__ = '2.11.0'\n")), HasSubstr("has ':' in its path"));
}

TEST_F(FindWorker, OfABuildFolderIsTheOneBesideIt) {
  const std::string beside = file("bin/precbench-worker", "");
  EXPECT_EQ(find("").path, beside);
  EXPECT_EQ(find("").libtorch_dir, "");  // the one that it was built with
  EXPECT_EQ(find("/torch").libtorch_dir, "/torch");
  EXPECT_EQ(find_worker({folder_ + "/bin", "/mine", "/torch", ""}).path, "/mine");
}

TEST_F(FindWorker, NamesItsPlaceWhereNoneIsInstalled) {
  fs::remove_all(folder_ + "/libexec");
  EXPECT_EQ(find("").path, folder_ + "/bin/precbench-worker");  // whose start then says what to do
}

TEST_F(FindWorker, OfFabricIsThePythonThatHasIt) {
  const std::string share = folder_ + "/share";
  file("share/precbench_fabric/__main__.py", "");
  const auto found = [&](const std::string& libtorch, const std::string& python) {
    return find_fabric_worker({folder_ + "/bin", "", libtorch, python}, share);
  };
  const auto refusal = [&](const std::string& python) -> std::string {
    try {
      found("", python);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "no DeviceError";
  };
  const std::string named = python("lacks");
  EXPECT_EQ(found("", named).path, named);
  EXPECT_EQ(found("", named).arguments, std::vector{share + "/precbench_fabric"});
  // The one that the LibTorch lies in, which in a build folder this file names.
  fs::create_directories(folder_ + "/venv/lib/python3/site-packages/torch");
  const std::string beside = file("venv/bin/python3", "#!/bin/sh\necho lacks\n");
  fs::permissions(beside, fs::perms::owner_all);
  EXPECT_EQ(found(folder_ + "/venv/lib/python3/site-packages/torch", "").path, beside);
  file("share/libtorch", folder_ + "/venv/lib/python3/site-packages/torch\n");
  EXPECT_EQ(found("", "").path, beside);
  EXPECT_THAT(refusal(python("lacks lightning-fabric")),
              HasSubstr("-m pip install lightning-fabric\n"));
  EXPECT_THAT(refusal(python("what?")), HasSubstr("does not run"));
  EXPECT_THAT(refusal(folder_ + "/none"), HasSubstr("none does not start"));
  fs::remove_all(share + "/precbench_fabric");
  EXPECT_THAT(refusal(python("lacks")), HasSubstr("install precbench again"));
}

}  // namespace
}  // namespace precbench::worker_worker_command_test
