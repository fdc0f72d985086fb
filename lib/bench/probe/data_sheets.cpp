#include "bench/probe/data_sheets.h"

namespace precbench {
namespace {

// 0 = the data sheet has no figure, or the card no such units.
struct DataSheet {
  std::string_view device;
  double float64, float32, tf32, float16, bfloat16, float8;
};

// NVIDIA's data sheets of each product; tensor cores where the card has them for the format, and
// half of those figures that are given "with sparsity".
constexpr DataSheet kDataSheets[] = {
    {"Tesla P100-PCIE-16GB", 4.7, 9.3, 0, 18.7, 0, 0},
    {"Tesla V100-PCIE-16GB", 7.0, 14.0, 0, 112, 0, 0},
    {"Tesla V100-SXM2-16GB", 7.8, 15.7, 0, 125, 0, 0},
    {"Tesla V100-SXM2-32GB", 7.8, 15.7, 0, 125, 0, 0},
    {"Tesla T4", 0, 8.1, 0, 65, 0, 0},
    {"NVIDIA A100-SXM4-40GB", 19.5, 19.5, 156, 312, 312, 0},
    {"NVIDIA A100-SXM4-80GB", 19.5, 19.5, 156, 312, 312, 0},
    {"NVIDIA A100-PCIE-40GB", 19.5, 19.5, 156, 312, 312, 0},
    {"NVIDIA A100 80GB PCIe", 19.5, 19.5, 156, 312, 312, 0},
    {"NVIDIA A10", 0, 31.2, 62.5, 125, 125, 0},
    {"NVIDIA L4", 0, 30.3, 60, 121, 121, 242.5},
    {"NVIDIA H100 80GB HBM3", 67, 67, 494.5, 989.5, 989.5, 1979},
    {"NVIDIA H100 PCIe", 51, 51, 378, 756, 756, 1513},
    {"NVIDIA H200", 67, 67, 494.5, 989.5, 989.5, 1979},
};

}  // namespace

std::optional<double> data_sheet_tflops(std::string_view device, std::string_view format) {
  for (const DataSheet& sheet : kDataSheets) {
    if (sheet.device != device) continue;
    const double figure = format == "float64"    ? sheet.float64
                          : format == "float32"  ? sheet.float32
                          : format == "tf32"     ? sheet.tf32
                          : format == "float16"  ? sheet.float16
                          : format == "bfloat16" ? sheet.bfloat16
                          : format == "float8"   ? sheet.float8
                                                 : 0;
    if (figure > 0) return figure;
  }
  return std::nullopt;
}

}  // namespace precbench
