#include "bench/plan/schedule.h"

#include <algorithm>
#include <random>

namespace precbench {
namespace {

// std::shuffle's order differs between standard libraries; a seed must mean the same everywhere.
void shuffle(std::vector<PlannedRow>& rows, std::mt19937& random) {
  for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
}

}  // namespace

std::vector<PlannedRow> rows_of(const Plan& plan) {
  std::vector<PlannedRow> rows;
  for (const ModeTraits* mode : plan.modes) {
    for (const std::string& engine : plan.engines) rows.emplace_back(mode, engine);
  }
  return rows;
}

PlannedRow reference_row(const Plan& plan) { return {plan.reference, plan.reference_engine}; }

std::vector<PlannedRow> in_turn(const Plan& plan, std::vector<PlannedRow> rows) {
  const auto reference = std::find(rows.begin(), rows.end(), reference_row(plan));
  if (plan.reference_first && reference != rows.end())
    std::rotate(rows.begin(), reference, reference + 1);
  return rows;
}

std::vector<RunSlot> schedule(const Plan& plan, const std::vector<PlannedRow>& chosen) {
  const std::vector<PlannedRow> rows = in_turn(plan, chosen);
  std::vector<RunSlot> slots;
  std::mt19937 random(plan.seeds.front());
  size_t round = 0;
  for (int64_t repeat = 0; repeat < plan.repeats; ++repeat) {
    for (const uint32_t seed : plan.seeds) {
      std::vector<PlannedRow> order = rows;
      if (plan.order == Order::rotate && !order.empty()) {
        std::rotate(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(round % order.size()), order.end());
      } else if (plan.order == Order::random) {
        shuffle(order, random);
      }
      for (const PlannedRow& row : order) {
        slots.push_back({row, seed, repeat, static_cast<int64_t>(slots.size()), Role::measure});
      }
      ++round;
    }
  }
  const PlannedRow reference = reference_row(plan);
  const bool has_reference = std::find(rows.begin(), rows.end(), reference) != rows.end();
  if (round > 1 && has_reference) {
    slots.push_back(
        {reference, plan.seeds.front(), 0, static_cast<int64_t>(slots.size()), Role::drift});
  }
  return slots;
}

std::vector<RunSlot> own_slots(const Plan& plan, std::vector<RunSlot> slots) {
  const auto part_of = [&](const RunSlot& slot) { return slot.order_index % plan.shard.count; };
  const auto first = std::find_if(slots.begin(), slots.end(), [&](const RunSlot& slot) {
    return slot.row == reference_row(plan) && slot.seed == plan.seeds.front() && slot.repeat == 0;
  });
  const int64_t of_reference = first != slots.end() ? part_of(*first) : 0;
  std::erase_if(slots, [&](const RunSlot& slot) {
    const int64_t part = slot.role == Role::drift ? of_reference : part_of(slot);
    return part != plan.shard.index - 1;
  });
  return slots;
}

}  // namespace precbench
