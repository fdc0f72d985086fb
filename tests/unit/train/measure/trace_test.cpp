#include "train/measure/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "../../temporary.h"
#include "common/errors.h"

namespace precbench::train::trace_test {
namespace {

// Lines as tests/parity/trace_file.py writes them: repr, float.hex() and zlib.crc32 of Python.
TEST(Trace, LinesAreThoseOfThePythonReference) {
  EXPECT_EQ(trace_line(0, {2.2899372577667236, 0.9414060640493771, 65536.0, false}, std::nullopt),
            "0 2.28993726 0x1.251caa0000000p+1 0.9414060640493771 65536 0 -");
  EXPECT_EQ(trace_line(3, {0.0, 0.5, std::nullopt, false}, 0xbeefU),
            "3 0 0x0.0000000000000p+0 0.5 - 0 0000beef");
}

TEST(Trace, SaysNanWithoutSignAndInf) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(trace_line(1, {-std::nan(""), infinity, 32768.0, true}, std::nullopt),
            "1 nan nan inf 32768 1 -");
}

TEST(Trace, ChecksumIsZlibsOverAllBytes) {
  // zlib.crc32(numpy.float32([1, 2]).tobytes() + numpy.float32([3]).tobytes())
  EXPECT_EQ(weights_checksum({torch::tensor({1.0F, 2.0F}), torch::tensor({3.0F})}), 0xb20e96b1U);
  EXPECT_NE(weights_checksum({torch::tensor({1.0F, -0.0F})}),
            weights_checksum({torch::tensor({1.0F, 0.0F})}));
}

TEST(Trace, GradientNormRunsOverAllTensorsInDouble) {
  torch::Tensor a = torch::zeros({2}), b = torch::zeros({1}), without = torch::zeros({1});
  a.mutable_grad() = torch::tensor({3e30F, 0.0F});  // its square is no float32
  b.mutable_grad() = torch::tensor({4e30F});
  EXPECT_NEAR(gradient_norm({a, b, without}), 5e30, 1e24);
}

TEST(Trace, RefusesAFileThatCannotBeWritten) {
  EXPECT_THROW(TraceWriter("/nowhere/at/all.trace", 0), FileError);
}

TEST(Trace, WritesAChecksumEveryNSteps) {
  const std::string path = precbench::temporary_path("checksums.trace");
  {
    TraceWriter writer(path, 2);
    for (int i = 0; i < 3; ++i) writer.record({1.0, 1.0, std::nullopt, false}, {torch::ones({1})});
  }
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::filesystem::remove(path);
  ASSERT_EQ(lines.size(), 5U);  // two lines of heading
  EXPECT_TRUE(lines[2].ends_with(" -"));
  EXPECT_FALSE(lines[3].ends_with(" -"));
  EXPECT_TRUE(lines[4].ends_with(" -"));
}

}  // namespace
}  // namespace precbench::train::trace_test
