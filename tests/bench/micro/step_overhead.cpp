// step_overhead bare|measured tiny|mlp STEPS: one loop, for callgrind; prints seconds.
// step_overhead pairs tiny|mlp STEPS PAIRS: both loops in turn in one process; prints a line of
// JSON with microseconds a step of every pair.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/json_fields.h"
#include "step_loop.h"
#include "train/device/counting_allocator.h"

namespace precbench::train {
namespace {

double microseconds_a_step(double (*loop)(LoopSetting&), const std::string& size, int64_t steps) {
  const auto setting = make_setting(size, steps);
  return loop(*setting) / static_cast<double>(steps) * 1e6;
}

int print_pairs(const std::string& size, int64_t steps, int64_t pairs) {
  std::vector<double> bare;
  std::vector<double> measured;
  for (int64_t i = -1; i < pairs; ++i) {  // the first pair warms up
    // Who is first changes from pair to pair.
    const bool bare_first = i % 2 == 0;
    const double first = microseconds_a_step(bare_first ? train_bare : train_measured, size, steps);
    const double second =
        microseconds_a_step(bare_first ? train_measured : train_bare, size, steps);
    if (i < 0) continue;
    bare.push_back(bare_first ? first : second);
    measured.push_back(bare_first ? second : first);
  }
  std::puts(json{{"bare_us", bare}, {"measured_us", measured}}.dump().c_str());
  return EXIT_SUCCESS;
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 3) {
    std::fputs("usage: step_overhead bare|measured|pairs tiny|mlp STEPS [PAIRS]\n", stderr);
    return EXIT_FAILURE;
  }
  CountingAllocator::install();  // as the worker; the bare loop has it too in `pairs`
  at::set_num_threads(1);
  const int64_t steps = std::stoll(words[2]);
  if (words[0] == "pairs") return print_pairs(words[1], steps, std::stoll(words.at(3)));
  auto* const loop = words[0] == "bare" ? train_bare : train_measured;
  std::printf("%.1f us a step\n", microseconds_a_step(loop, words[1], steps));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace precbench::train

int main(int argc, char** argv) { return precbench::train::run({argv + 1, argv + argc}); }
