#include "train/loop/run_observers.h"

#include "train/base/dtypes.h"

namespace precbench::train {

RunObservers::RunObservers(const TrainJob& job, const TrainingParts& parts, const ModeTraits& mode,
                           int64_t resident_bytes, const EventSink& emit)
    : clock(parts.clock),
      length(length_of(job, parts.train_loader.batches())),
      memory(parts.device, parts.model, parts.optimizer, resident_bytes, length.steps),
      dtypes(parts.device.device().type(), parts.optimizer),
      least_time(parts.device),
      reader(parts.device, parts.optimizer, parts.log, clock,
             job.pilot || !job.dump_trace.empty() || holds_on_skip(job, parts.precision)),
      first_step(clock),
      divergence(parts.log.steps(), job.keep_going, job.pilot),
      progress(length, parts.log, clock, emit),
      graph(job, parts.device, parts.precision.scaler() != nullptr, clock, emit) {
  all.add(memory);
  if (graph.is_usable()) all.add(graph);
  all.add(dtypes);
  if (job.pilot) {
    time_limit.emplace(job.pilot_limit_s);
  } else {
    all.add(
        health.emplace(parts.optimizer, scalar_type(mode.compute), parts.precision, clock, memory));
  }
  all.add(least_time);
  all.add(reader);
  if (!job.dump_trace.empty() && !job.pilot) {
    all.add(trace.emplace(TraceWriter(job.dump_trace, job.dump_trace_weights_every),
                          parts.optimizer, parts.precision, parts.log, clock));
  }
  all.add(first_step);
  all.add(divergence);
  if (time_limit) all.add(*time_limit);
  all.add(progress);
}

}  // namespace precbench::train
