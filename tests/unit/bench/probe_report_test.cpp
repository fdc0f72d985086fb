#include "bench/probe/probe_report.h"

#include <gtest/gtest.h>

#include "common/data_sheets.h"

namespace precbench::probe_report_test {
namespace {

json rates(double float32, double bfloat16) {
  const auto format = [](double gemm) {
    return json{{"gemm", {{"tflops", gemm}}},
                {"convolution", nullptr},
                {"unknown", {{"convolution", "not implemented for 'X'"}}}};
  };
  return {{"formats", {{"float32", format(float32)}, {"bfloat16", format(bfloat16)}}}};
}

ProbeRow row_of(const std::vector<ProbeRow>& rows, const std::string& mode) {
  for (const ProbeRow& row : rows) {
    if (row.mode == mode) return row;
  }
  return {};
}

DeviceFacts cpu_with_bf16() {
  DeviceFacts device;
  device.cpu.architecture = "x86_64";
  device.cpu.flags_known = true;
  device.cpu.flags = {"avx2",     "avx512f",     "avx512bw",   "avx512vl",
                      "avx512dq", "avx512_vnni", "avx512_bf16"};
  return device;
}

TEST(ProbeReport, SetsEveryModeBesideFloat32) {
  const auto rows = probe_rows(cpu_with_bf16(), rates(2.0, 5.0));
  const ProbeRow row = row_of(rows, "bf16-mixed");
  EXPECT_EQ(row.gemm_tflops, 5.0);
  EXPECT_EQ(row.gemm_ratio, 2.5);
  EXPECT_FALSE(row.contradicts);
  EXPECT_EQ(row.unknown.at("convolution_tflops"), "not implemented for 'X'");
  EXPECT_EQ(row_of(rows, "64-true").unknown.at("gemm_tflops"),
            "the rate of float64 is not measured in this version");
  EXPECT_EQ(row_of(rows, "32-true").gemm_ratio, 1.0);
}

TEST(ProbeReport, FlagsAVerdictThatTheMeasurementContradicts) {
  EXPECT_EQ(row_of(probe_rows(cpu_with_bf16(), rates(2.0, 0.8)), "bf16-true").contradicts,
            "bfloat16 is declared native but runs at 0.4x of float32 here");
  DeviceFacts t4;
  t4.kind = "cuda";
  t4.compute_capability = 75;
  EXPECT_EQ(row_of(probe_rows(t4, rates(2.0, 5.0)), "bf16-true").contradicts,
            "bfloat16 is declared emulated but runs at 2.5x of float32 here");
  EXPECT_FALSE(row_of(probe_rows(t4, rates(2.0, 0.8)), "bf16-true").contradicts);
}

// An L40S is no L4.
TEST(DataSheets, KnowExactNamesAlone) {
  EXPECT_EQ(data_sheet_tflops("Tesla T4", "float16"), 65.0);
  EXPECT_EQ(data_sheet_tflops("NVIDIA L4", "bfloat16"), 121.0);
  EXPECT_FALSE(data_sheet_tflops("NVIDIA L40S", "bfloat16"));
  EXPECT_FALSE(data_sheet_tflops("Tesla T4", "bfloat16"));  // it has no such units
  EXPECT_FALSE(data_sheet_tflops("T4", "float16"));
}

}  // namespace
}  // namespace precbench::probe_report_test
