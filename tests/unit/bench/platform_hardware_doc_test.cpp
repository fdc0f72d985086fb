// docs/hardware.md holds the verdicts on the known devices. This test compares, and with
// PRECBENCH_UPDATE_DOCS=1 writes the table anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../places.h"
#include "bench/platform/verdict.h"
#include "platform_devices.h"

namespace precbench::platform_hardware_doc_test {
namespace {

constexpr std::string_view kBegin = "<!-- verdicts: begin (generated) -->\n";
constexpr std::string_view kEnd = "<!-- verdicts: end -->\n";

constexpr NativeSupport kColumns[] = {NativeSupport::any,      NativeSupport::float16,
                                      NativeSupport::bfloat16, NativeSupport::float64,
                                      NativeSupport::float8,   NativeSupport::tf32};

// Modes of one column differ in nothing that a verdict reads.
const ModeTraits& first_mode(NativeSupport support) {
  return *std::find_if(std::begin(kModes), std::end(kModes),
                       [&](const ModeTraits& mode) { return mode.native == support; });
}

std::string table() {
  std::string text = "| device |";
  std::string rule = "|---|";
  for (const NativeSupport support : kColumns) {
    std::string names;
    for (const ModeTraits& mode : kModes) {
      if (mode.native == support)
        names += (names.empty() ? "" : ", ") + ("`" + std::string(mode.name)) + "`";
    }
    text += " " + names + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const testing::KnownDevice& device : testing::known_devices()) {
    text += "| " + device.label + " |";
    std::string left;
    for (const NativeSupport support : kColumns) {
      const Support said = verdict(first_mode(support), device.facts);
      const std::string cell =
          std::string(name_of(said.verdict)) + (said.why.empty() ? "" : " (" + said.why + ")");
      text +=
          cell == left && said.verdict == SupportLevel::unsupported ? " same |" : " " + cell + " |";
      left = cell;
    }
    text += "\n";
  }
  return text;
}

TEST(HardwareDoc, HoldsTheVerdictsOnTheKnownDevices) {
  const std::string path = source_dir() + "/docs/hardware.md";
  std::stringstream stream;
  stream << std::ifstream(path).rdbuf();
  const std::string page = stream.str();
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos) << path;
  ASSERT_NE(end, std::string::npos) << path;
  const size_t from = begin + kBegin.size();
  if (std::getenv("PRECBENCH_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page.substr(0, from) << table() << page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), table())
      << "run the test with PRECBENCH_UPDATE_DOCS=1 to write the table anew";
}

}  // namespace
}  // namespace precbench::platform_hardware_doc_test
