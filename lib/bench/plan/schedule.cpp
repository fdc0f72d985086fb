#include "bench/plan/schedule.h"

#include <algorithm>
#include <random>

namespace precbench {
namespace {

// std::shuffle's order differs between standard libraries; a seed must mean the same everywhere.
void shuffle(std::vector<const ModeTraits*>& modes, std::mt19937& random) {
  for (size_t i = modes.size(); i > 1; --i) std::swap(modes[i - 1], modes[random() % i]);
}

}  // namespace

std::vector<const ModeTraits*> in_turn(const Plan& plan, std::vector<const ModeTraits*> modes) {
  const auto reference = std::find(modes.begin(), modes.end(), plan.reference);
  if (plan.reference_first && reference != modes.end())
    std::rotate(modes.begin(), reference, reference + 1);
  return modes;
}

std::vector<RunSlot> schedule(const Plan& plan, const std::vector<const ModeTraits*>& chosen) {
  const std::vector<const ModeTraits*> modes = in_turn(plan, chosen);
  std::vector<RunSlot> slots;
  std::mt19937 random(plan.seeds.front());
  size_t round = 0;
  for (int64_t repeat = 0; repeat < plan.repeats; ++repeat) {
    for (const uint32_t seed : plan.seeds) {
      std::vector<const ModeTraits*> order = modes;
      if (plan.order == Order::rotate && !order.empty()) {
        std::rotate(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(round % order.size()), order.end());
      } else if (plan.order == Order::random) {
        shuffle(order, random);
      }
      for (const ModeTraits* mode : order) {
        slots.push_back({mode, seed, repeat, static_cast<int64_t>(slots.size()), Role::measure});
      }
      ++round;
    }
  }
  const bool has_reference = std::find(modes.begin(), modes.end(), plan.reference) != modes.end();
  if (round > 1 && has_reference) {
    slots.push_back(
        {plan.reference, plan.seeds.front(), 0, static_cast<int64_t>(slots.size()), Role::drift});
  }
  return slots;
}

}  // namespace precbench
