#include "common/data_sheets.h"

namespace precbench {
namespace {

// NVIDIA's data sheets of each product; tensor cores where the card has them for the format, and
// half of those figures that are given "with sparsity". Caches are from the architectures' white
// papers.
constexpr DataSheet kDataSheets[] = {
    {"Tesla P100-PCIE-16GB", 4.7, 9.3, 0, 18.7, 0, 0, 732, 4.2},
    {"Tesla V100-PCIE-16GB", 7.0, 14.0, 0, 112, 0, 0, 900, 6.3},
    {"Tesla V100-SXM2-16GB", 7.8, 15.7, 0, 125, 0, 0, 900, 6.3},
    {"Tesla V100-SXM2-32GB", 7.8, 15.7, 0, 125, 0, 0, 900, 6.3},
    {"Tesla T4", 0, 8.1, 0, 65, 0, 0, 320, 4.2},
    {"NVIDIA A100-SXM4-40GB", 19.5, 19.5, 156, 312, 312, 0, 1555, 42},
    {"NVIDIA A100-SXM4-80GB", 19.5, 19.5, 156, 312, 312, 0, 2039, 42},
    {"NVIDIA A100-PCIE-40GB", 19.5, 19.5, 156, 312, 312, 0, 1555, 42},
    {"NVIDIA A100 80GB PCIe", 19.5, 19.5, 156, 312, 312, 0, 1935, 42},
    {"NVIDIA A10", 0, 31.2, 62.5, 125, 125, 0, 600, 6.3},
    {"NVIDIA L4", 0, 30.3, 60, 121, 121, 242.5, 300, 50.4},
    {"NVIDIA H100 80GB HBM3", 67, 67, 494.5, 989.5, 989.5, 1979, 3350, 52.5},
    {"NVIDIA H100 PCIe", 51, 51, 378, 756, 756, 1513, 2000, 52.5},
    {"NVIDIA H200", 67, 67, 494.5, 989.5, 989.5, 1979, 4800, 52.5},
};

}  // namespace

const DataSheet* find_data_sheet(std::string_view device) {
  for (const DataSheet& sheet : kDataSheets) {
    if (sheet.device == device) return &sheet;
  }
  return nullptr;
}

std::optional<double> data_sheet_tflops(std::string_view device, std::string_view format) {
  const DataSheet* sheet = find_data_sheet(device);
  if (sheet == nullptr) return std::nullopt;
  const double figure = format == "float64"    ? sheet->float64
                        : format == "float32"  ? sheet->float32
                        : format == "tf32"     ? sheet->tf32
                        : format == "float16"  ? sheet->float16
                        : format == "bfloat16" ? sheet->bfloat16
                        : format == "float8"   ? sheet->float8
                                               : 0;
  if (figure > 0) return figure;
  return std::nullopt;
}

}  // namespace precbench
