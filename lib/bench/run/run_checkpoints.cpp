#include "bench/run/run_checkpoints.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/checkpoint_file.h"
#include "common/errors.h"
#include "common/json_text.h"
#include "common/suggest.h"
#include "common/version.h"

namespace precbench {
namespace {

// results/20261201-120000-mlp-synthetic.bf16-mixed-s42-r0
std::string stem_of_run(const RunSlot& slot, const std::string& result_path) {
  std::string run = fmt::format("{}-s{}-r{}", slot.row.name(), slot.seed, slot.repeat);
  if (slot.role == Role::drift) run += "-drift";
  for (char& c : run) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return std::filesystem::path(result_path).replace_extension().string() + "." + run;
}

// What has to be the same for a run to go on as if nothing had happened, by the words for it.
json identity_of(const ResultDocument& document, const RunSlot& slot) {
  const json& environment = document.environment;
  const auto member = [](const json& object, const char* key) {
    return object.is_object() && object.contains(key) ? object.at(key) : json();
  };
  const json cpu = member(environment, "cpu"), device = member(environment, "device");
  return {{"run", fmt::format("{} {}", slot.row.name(), slot.seed)},
          {"protocol", member(document.protocol, "hash")},
          {"LibTorch", member(document.tool, "libtorch")},
          {"precbench", tool_version()},
          {"device", member(device, "name")},
          {"CPU", member(cpu, "model")},
          {"threads", member(cpu, "threads")}};
}

std::string differing(const json& theirs, const json& ours) {
  std::vector<std::string> found;
  for (const auto& [name, value] : ours.items()) {
    const json other = theirs.value(name, json());
    if (other != value) {
      found.push_back(
          fmt::format("{} {}, here {}", name, json_text(other, -1), json_text(value, -1)));
    }
  }
  return joined(found, "; ");
}

}  // namespace

std::optional<int64_t> RunCheckpoints::prepare(const RunSlot& slot, const std::string& result_path,
                                               TrainJob& job) const {
  const std::string stem = stem_of_run(slot, result_path);
  const json identity = identity_of(document_, slot);
  job.checkpoint.stem = stem;
  job.checkpoint.steps = plan_.checkpoint_steps;
  job.checkpoint.seconds = plan_.checkpoint_s;
  job.checkpoint.identity = json_text(identity, -1);
  for (const CheckpointName& each : checkpoints_of(stem)) {
    try {
      const Checkpoint checkpoint = read_checkpoint(each.path);
      const std::string other = differing(checkpoint.header.at("identity"), identity);
      if (other.empty()) {
        job.checkpoint.resume_from = each.path;
        return each.step;
      }
      console_.warning(fmt::format("the checkpoint '{}' is of another run ({})", each.path, other));
    } catch (const FileError& error) {
      console_.warning(error.what());
    }
  }
  if (!checkpoints_of(stem).empty()) {
    console_.warning(fmt::format("{}, seed {}, begins anew", slot.row.name(), slot.seed));
    remove(slot, result_path);
  }
  return std::nullopt;
}

void RunCheckpoints::remove(const RunSlot& slot, const std::string& result_path) const {
  for (const CheckpointName& each : checkpoints_of(stem_of_run(slot, result_path))) {
    std::error_code is_gone;
    std::filesystem::remove(each.path, is_gone);
  }
}

}  // namespace precbench
