#include "bench/run/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "bench/files/sha256.h"
#include "bench/files/standard_streams.h"
#include "bench/judge/marks.h"
#include "bench/plan/protocol.h"
#include "bench/plan/resolve_device.h"
#include "bench/plan/schedule.h"
#include "bench/platform/contention.h"
#include "bench/platform/environment.h"
#include "bench/report/block.h"
#include "bench/run/announcement.h"
#include "bench/run/attention_choice.h"
#include "bench/run/baseline.h"
#include "bench/run/console.h"
#include "bench/run/ending.h"
#include "bench/run/file_of_run.h"
#include "bench/run/gemm_choice.h"
#include "bench/run/gpu_watch.h"
#include "bench/run/logged_runner.h"
#include "bench/run/own_batches.h"
#include "bench/run/preflight.h"
#include "bench/run/progress.h"
#include "bench/run/recording.h"
#include "bench/run/row_batch.h"
#include "bench/run/run_checkpoints.h"
#include "bench/run/target.h"
#include "bench/run/trial_steps.h"
#include "bench/run/troubles.h"
#include "bench/run/yardsticks.h"
#include "bench/text/escape.h"
#include "bench/worker/device_choice.h"
#include "common/engines.h"
#include "data/load.h"

namespace precbench {
namespace {

// Both engines are to run on one torch; where they do not, the rows differ in more than the engine.
std::optional<std::string> note_of_torch(const JobOutcome& outcome, const std::string& libtorch) {
  if (!outcome.hello) return std::nullopt;
  const auto release = [](const std::string& version) {
    return version.substr(0, version.find('+'));  // "2.11.0+cu130"
  };
  if (release(outcome.hello->libtorch) == release(libtorch)) return std::nullopt;
  return fmt::format("ran on torch {}, not {}", printable(outcome.hello->libtorch),
                     printable(libtorch));
}

class Session {
 public:
  Session(Plan plan, JobRunner& runner, Console& console)
      : plan_(std::move(plan)), runner_(runner), console_(console) {}

  int run() {
    for (const std::string& warning : plan_.warnings) console_.warning(warning);
    check_writable(plan_);
    const Baseline baseline(plan_, console_);
    if (!plan_.resume.empty()) earlier_ = load_result(plan_.resume);
    data_ = data::check_dataset(plan_.job.dataset);
    data::check_model_file(plan_.job);
    device_ = choose_device(plan_, runner_);
    resolve_for_device(plan_, device_.is_cuda(), [&] { return measure_gemm(plan_, runner_); });
    attention_notes_ = measure_attention(plan_, device_, data_, runner_);
    std::optional<std::string> digest;
    if (!data_.files.empty()) digest = sha256_of_files(data_.files);
    gpu_.emplace(device_);
    recording_.emplace(
        plan_, protocol_json(plan_, digest, device_.is_cuda(), data_),
        environment_json(device_.facts, device_.facts.cpu, plan_.threads, device_.worker_facts),
        device_.libtorch);
    tell_driver();
    baseline.require_protocol(recording_->document());
    if (earlier_) recording_->resume(*earlier_, plan_.resume);
    decide_support(plan_, device_, *recording_);
    if (plan_.own_batches) require_memory_limit(plan_, device_, "--batch-size max");
    leave_to_others();
    announce(plan_, device_, recording_->document(), attention_notes_, console_);
    yardsticks_.emplace(plan_, device_, console_);
    if (plan_.own_batches && !interrupted()) {
      choose_own_batches(plan_, device_, data_.train_samples, runner_, console_, *recording_);
    }
    if (!plan_.own_batches && !interrupted()) yardsticks_->predict(runner_);
    try_modes({plan_, runner_, console_, device_, *recording_, data_, troubles_});
    run_modes();
    return static_cast<int>(finish(baseline));
  }

 private:
  bool interrupted() { return troubles_.interrupted(runner_); }

  void tell_driver() {
    if (device_.facts.kind != "cuda") return;
    std::string reason;
    json& environment = recording_->document().environment;
    if (const auto driver = gpu_->driver(reason)) {
      environment["driver"] = *driver;
      environment["unknown"].erase("driver");
    } else {
      environment["unknown"]["driver"] = reason;
    }
  }

  // Rows none of whose runs are in this part of the comparison (--shard).
  void leave_to_others() {
    const std::vector<PlannedRow> rows = rows_of(plan_);
    const std::vector<RunSlot> own = own_slots(plan_, schedule(plan_, rows));
    if (own.empty()) {
      throw UsageError(fmt::format("--shard {}/{}: this part has no run; there are {} in all",
                                   plan_.shard.index, plan_.shard.count,
                                   schedule(plan_, rows).size()));
    }
    for (const PlannedRow& row : rows) {
      const bool is_ours =
          std::any_of(own.begin(), own.end(), [&](const RunSlot& slot) { return slot.row == row; });
      if (!is_ours && recording_->mode(row.name()).status == Status::ok) {
        recording_->set_status(row.name(), Status::skipped, kInAnotherPart);
      }
    }
  }

  void run_modes() {
    const std::vector<RunSlot> slots = recording_->left_to_run(plan_);
    for (size_t i = 0; i < slots.size() && !interrupted(); ++i) {
      const std::vector<RunSlot> later(slots.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                       slots.end());
      run_slot(slots[i], fmt::format("[{}/{}] {}", i + 1, slots.size(), slots[i].row.name()),
               recording_->expected_s(later));
    }
  }

  void run_slot(const RunSlot& slot, const std::string& label, std::optional<double> later_s) {
    TrainJob train = job_for(plan_, slot.row, slot.seed, device_.is_cuda());
    train.dump_trace = file_of_run(plan_, slot, train.dump_trace, ".trace");
    train.save_weights = file_of_run(plan_, slot, train.save_weights, ".pt");
    const auto resumed_at = prepare_checkpoints(slot, train);
    Progress progress(console_, label, train.batch_size * train.devices, steady_seconds);
    progress.before_others(later_s);
    const CpuSnapshot before = read_cpu_snapshot();
    const double own_before_s = own_cpu_s();
    gpu_->begin();
    const JobOutcome outcome = runner_.run(
        job_on(device_, plan_, train), {plan_.timeout_s},
        [&](const Event& event) { progress.take(event); }, [&] { progress.tick(); });
    const NvmlReport gpu = gpu_->end();
    console_.clear_live();
    if (troubles_.take(outcome)) return;
    const CpuSnapshot after = read_cpu_snapshot();
    const double own_s = outcome.cpu_s + own_cpu_s() - own_before_s;
    // Other ranks on this machine, which are no children of ours, are busy by right.
    const bool knows_others = plan_.launch.local_size == 1;
    if (outcome.result && outcome.result->train) {
      TrainResult result = *outcome.result->train;
      result.run.target = target_of(train, result);
      if (const auto note = note_of_torch(outcome, device_.libtorch)) result.notes.push_back(*note);
      recording_->add(slot, result, gpu.energy,
                      knows_others ? share_of_others(before, after, own_s) : std::nullopt);
      const bool counts = slot.role == Role::measure;
      ModeRecord& row = recording_->mode(slot.row.name());
      if (const auto mark = yardsticks_->set_beside(row, counts))
        recording_->mark_once(row.mode, *mark);
    } else {
      recording_->add_failure(slot, outcome.status == Status::ok ? Status::error : outcome.status,
                              outcome.reason.value_or("the worker sent no training result"));
    }
    mark(slot, knows_others ? busy_reason(before, after, own_s) : std::nullopt, gpu.marks);
    if (resumed_at) mark_resumed(slot, *resumed_at);
    save();  // before it is told: who has seen a result can rely on it
    drop_checkpoints(slot);
    print_block(slot);
  }

  // Only a comparison that is on the disk can be gone on with.
  std::optional<int64_t> prepare_checkpoints(const RunSlot& slot, TrainJob& train) {
    if (!plan_.has_checkpoints()) return std::nullopt;
    if (!saved_to_) save();
    if (!saved_to_) return std::nullopt;
    const auto step = checkpoints().prepare(slot, *saved_to_, train);
    if (step) {
      console_.info(
          fmt::format("{}, seed {}, goes on from step {}", slot.row.name(), slot.seed, *step));
    }
    return step;
  }

  // What a worker that crashed or was ended left is what --resume goes on from.
  void drop_checkpoints(const RunSlot& slot) {
    if (!plan_.has_checkpoints() || !saved_to_) return;
    const Status status = recording_->mode(slot.row.name()).runs.back().status;
    if (status == Status::error || status == Status::timeout) return;
    checkpoints().remove(slot, *saved_to_);
  }

  RunCheckpoints checkpoints() { return {plan_, recording_->document(), console_}; }

  void mark_resumed(const RunSlot& slot, int64_t step) {
    recording_->mark_once(
        slot.row.name(),
        {"resumed", fmt::format("its run with seed {} was interrupted, and went on "
                                "from step {} in another process",
                                slot.seed, step)});
  }

  // The processors and the GPU may both have been busy.
  void mark(const RunSlot& slot, const std::optional<std::string>& busy_cpu,
            const std::vector<Mark>& gpu_marks) {
    std::string busy = busy_cpu.value_or("");
    for (const Mark& mark : gpu_marks) {
      if (mark.id == "busy") {
        busy += (busy.empty() ? "" : ", and ") + mark.why;
      } else {
        recording_->mark_once(slot.row.name(), mark);
      }
    }
    if (busy.empty()) return;
    recording_->mark_once(slot.row.name(), {"busy", busy});
    // Told at once and once: there may be hours of runs to come whose times say little.
    if (std::exchange(busy_told_, true)) return;
    console_.warning(fmt::format(
        "while {} ran, {}: such times decide only what that cannot have caused.\n"
        "         Close other programs, or stop here (Ctrl-C) and run it when the machine is "
        "quiet.",
        slot.row.name(), busy));
  }

  void print_rows_without_runs() {
    if (!prints_blocks(plan_.output)) return;
    for (const ModeRecord& row : recording_->document().modes) {
      if (row.runs.empty())
        console_.result((blocks_printed_++ > 0 ? "\n" : "") + render_block(row));
    }
  }

  void print_block(const RunSlot& slot) {
    if (!prints_blocks(plan_.output)) return;
    const ModeRecord& row = recording_->mode(slot.row.name());
    const bool runs_once = plan_.repeats == 1 && slot.role == Role::measure;
    console_.result((blocks_printed_++ > 0 ? "\n" : "") +
                    render_block(row.mode, slot.seed, row.runs.back(), runs_once));
  }

  // A full disk must not cost the runs that are still to come: it is told, and decides the exit
  // code.
  void save() {
    try {
      saved_to_ = recording_->save();
    } catch (const FileError& error) {
      saved_to_.reset();
      if (!troubles_.file) console_.error(error.what());
      troubles_.file = true;
    }
  }

  ExitCode finish(const Baseline& baseline) {
    recording_->close_unfinished(troubles_.signal ? "interrupted before it ended"
                                                  : "it did not run");
    recording_->choose_reference(reference_row(plan_).name());
    assign_marks(recording_->document());
    ExitCode code = recording_->outcome();
    if (!troubles_.signal) {
      code = weightier(code, baseline.judge(recording_->document(), console_));
    }
    if (troubles_.file) code = ExitCode::file;
    if (troubles_.signal) {
      code = *troubles_.signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
    }
    // An interruption before the first run has ended leaves nothing worth a file.
    const bool has_result =
        !troubles_.signal || recording_->has_runs() || (plan_.has_checkpoints() && saved_to_);
    recording_->set_exit_code(code);
    if (has_result) save();
    print_rows_without_runs();
    print_ending(plan_.output, recording_->document(), console_);
    const bool all_written = write_exports(plan_.output, recording_->document(), console_) &&
                             tell_github(recording_->document(), console_) && !stdout_failure() &&
                             !troubles_.file;
    if (!all_written && !troubles_.signal && code != ExitCode::file) {
      code = ExitCode::file;
      recording_->set_exit_code(code);
      if (has_result) save();
    }
    if (saved_to_) console_.info("saved " + *saved_to_);
    if (troubles_.signal) tell_how_to_go_on();
    return code;
  }

  void tell_how_to_go_on() {
    if (saved_to_) {
      const std::string program = plan_.argv.empty() ? "precbench" : plan_.argv.front();
      console_.info("to go on: " + shell_word(program) + " --resume " + shell_word(*saved_to_));
    } else if (plan_.save && !troubles_.file) {
      console_.info("no run had ended: nothing is saved");
    }
  }

  // When several apply: nothing succeeded, then a failed gate, then failed modes, then an
  // inconclusive gate.
  static ExitCode weightier(ExitCode rows, const std::optional<ExitCode>& gate) {
    if (!gate || *gate == ExitCode::ok || rows == ExitCode::nothing_ran) return rows;
    return rows == ExitCode::partial && *gate == ExitCode::inconclusive ? rows : *gate;
  }

  Plan plan_;
  JobRunner& runner_;
  Console& console_;
  data::DatasetSummary data_;
  DeviceChoice device_;
  std::vector<std::string> attention_notes_;
  std::optional<GpuWatch> gpu_;
  std::optional<Recording> recording_;
  std::optional<Yardsticks> yardsticks_;
  std::optional<ResultDocument> earlier_;  // --resume
  std::optional<std::string> saved_to_;
  Troubles troubles_;
  bool busy_told_ = false;
  int blocks_printed_ = 0;
};

}  // namespace

int run_session(Plan plan) {
  Console console(plan.output);
  std::optional<WorkerCommand> fabric;
  const auto& engines = plan.engines;
  if (std::find(engines.begin(), engines.end(), kFabricEngine) != engines.end()) {
    fabric = fabric_command_from_environment();
  }
  LoggedRunner runner(console, std::move(fabric));
  return Session(std::move(plan), runner, console).run();
}

int run_session(Plan plan, JobRunner& runner) {
  Console console(plan.output);
  return Session(std::move(plan), runner, console).run();
}

}  // namespace precbench
