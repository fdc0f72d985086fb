// All that looks on in a run of the worker.
#pragma once

#include <optional>

#include "common/job.h"
#include "common/modes.h"
#include "train/base/event_sink.h"
#include "train/loop/progress.h"
#include "train/loop/schedule.h"
#include "train/loop/step_graph.h"
#include "train/loop/training.h"
#include "train/measure/divergence.h"
#include "train/measure/dtype_observer.h"
#include "train/measure/least_time.h"
#include "train/measure/memory_profile.h"
#include "train/measure/numeric_health.h"
#include "train/measure/trace.h"

namespace precbench::train {

struct RunObservers {
  // Keeps references. `resident_bytes` were allocated before the model.
  RunObservers(const TrainJob& job, const TrainingParts& parts, const ModeTraits& mode,
               int64_t resident_bytes, const EventSink& emit);

  StepClock& clock;
  TrainingLength length;
  MemoryProfile memory;
  DtypeWatch dtypes;
  std::optional<NumericHealthWatch> health;  // not in a pilot
  LeastTime least_time;
  StepLogReader reader;
  std::optional<TraceWatch> trace;  // with --dump-trace
  FirstStep first_step;
  DivergenceWatch divergence;
  std::optional<TimeLimit> time_limit;  // in a pilot
  Progress progress;
  StepGraph graph;

  Observers all;
};

}  // namespace precbench::train
