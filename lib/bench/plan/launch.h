// Started by torchrun, or by what sets its variables: each process is one rank of a comparison that
// all of them do in step. Rank 0 writes and prints; the others only train.
#pragma once

#include <optional>

#include "bench/plan/plan.h"
#include "bench/plan/resolver.h"

namespace precbench {

// From RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; LOCAL_WORLD_SIZE says how many share the
// machine. Nothing where they are not all there or there is one rank. Throws UsageError where they
// make no sense.
std::optional<Launch> launch_from(const Environment& environment);

// The flags with --devices for all ranks. Throws UsageError where they name another number.
GivenFlags with_devices(GivenFlags flags, const Launch& launch);

// Throws UsageError for what ranks would decide differently, each by its own clock or files.
void join_launch(Plan& plan, const Launch& launch);

}  // namespace precbench
