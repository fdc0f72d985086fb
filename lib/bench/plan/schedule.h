// Which run follows which.
#pragma once

#include <string>
#include <vector>

#include "bench/plan/plan.h"
#include "common/run_record.h"

namespace precbench {

struct RunSlot {
  PlannedRow row;
  uint32_t seed = 0;
  int64_t repeat = 0;  // from 0
  int64_t order_index = 0;
  Role role = Role::measure;
};

// Each mode in each engine, one mode's rows together.
std::vector<PlannedRow> rows_of(const Plan& plan);
PlannedRow reference_row(const Plan& plan);

// The rows in the order in which they take their turns: the reference first where
// `plan.reference_first` says so, as all other figures are told beside its own.
std::vector<PlannedRow> in_turn(const Plan& plan, std::vector<PlannedRow> rows);

// given: mode after mode as asked for, in every round (a round is one repeat of one seed). rotate:
// each round starts one mode later, so that each mode takes each place. random: each round shuffled
// from the first seed. With more than one round the first reference run is repeated at the end, to
// show drift of the machine.
std::vector<RunSlot> schedule(const Plan& plan, const std::vector<PlannedRow>& chosen);

// Those of them that are this process's (--shard). The parts of a comparison have every slot once;
// the repeated reference run is where the first one is, since it speaks of one machine.
std::vector<RunSlot> own_slots(const Plan& plan, std::vector<RunSlot> slots);

}  // namespace precbench
