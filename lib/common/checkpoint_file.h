// The file in which a run keeps what another process needs to go on with it. Written by the worker,
// chosen by the coordinator: a line of JSON, then the bytes of the tensors that it lists, one after
// the other, then a checksum of all of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/json_fields.h"

namespace precbench {

// stem.120.checkpoint
inline constexpr std::string_view kCheckpointSuffix = ".checkpoint";

struct Checkpoint {
  json header = json::object();  // {identity, step, values, tensors: [{.., bytes}]}
  uint64_t payload_begin = 0;    // of the tensors' bytes in the file
};

// Beside the file of that name, whose place it takes when it is whole and on the disk. Throws
// FileError; then the file that was there is still there.
void write_checkpoint(const std::string& path, const json& header,
                      const std::vector<std::string_view>& payload);

// Throws FileError for a file that is missing, cut off, changed or something else.
Checkpoint read_checkpoint(const std::string& path);

struct CheckpointName {
  std::string path;
  int64_t step;
};

// Those of a stem, the latest first.
std::vector<CheckpointName> checkpoints_of(const std::string& stem);
std::string checkpoint_path(const std::string& stem, int64_t step);

}  // namespace precbench
