#include "bench/run/worker_voice.h"

#include <fmt/format.h>

#include "common/engines.h"
#include "common/names.h"

namespace precbench {
namespace {

// As much as a summary of a model takes; what prints more would hide our own lines.
constexpr int kShownLines = 40;
constexpr size_t kShownCharacters = 200;

bool runs_user_code(const TrainJob& job) {
  return job.model == kPython || job.dataset.name == kPython;
}

}  // namespace

std::string speaker_of(const Job& job) {
  return job.kind == JobKind::train ? row_name(job.train.mode, job.train.engine)
                                    : std::string(name_of(job.kind));
}

void WorkerVoice::take(const Job& job, std::string_view line) {
  const std::string row = speaker_of(job);
  if (job.kind != JobKind::train || !runs_user_code(job.train)) {
    console_.worker_says(row, line);
    return;
  }
  const std::string speaker = fmt::format("{} {} {}", row, job.train.seed, job.train.pilot);
  if (speaker != speaker_) shown_ = 0;
  speaker_ = speaker;
  std::string text = row + ": " + std::string(line.substr(0, kShownCharacters));
  if (line.size() > kShownCharacters) text += "...";
  if (++shown_ <= kShownLines) {
    console_.info(text);
  } else {
    if (shown_ == kShownLines + 1) console_.info(row + ": (more is shown with -v)");
    console_.worker_says(row, line);
  }
}

}  // namespace precbench
