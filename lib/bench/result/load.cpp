// Reading a result file that may come from anywhere: nothing in it is trusted.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "bench/result/document.h"
#include "bench/text/escape.h"
#include "common/engines.h"
#include "common/errors.h"
#include "common/fields_json.h"
#include "common/json_input.h"
#include "common/limits.h"
#include "common/modes.h"

namespace precbench {
namespace {

std::string read_file(const std::string& path) {
  constexpr const char* kTooLarge = "is over 256 MiB: no result file is that large";
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || std::filesystem::is_directory(status)) {
    throw FileError("cannot be read: " + (error ? error.message() : "it is a folder"));
  }
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(path, error) > limits::kResultFileBytes) {
    throw FileError(kTooLarge);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError("cannot be read: no permission");
  // In pieces: a pipe has no size, and what claims to be small may go on.
  std::string text;
  std::vector<char> piece(size_t{1} << 20);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<size_t>(file.gcount()));
    if (text.size() > limits::kResultFileBytes) throw FileError(kTooLarge);
  }
  if (text.empty()) throw FileError("is empty");
  return text;
}

[[noreturn]] void fail_at(const std::string& text, size_t byte, const std::string& what) {
  const size_t end = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto here = text.begin() + static_cast<std::ptrdiff_t>(end);
  const auto line = 1 + std::count(text.begin(), here, '\n');
  const size_t line_start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const size_t column = line_start == std::string::npos ? end + 1 : end - line_start;
  throw FileError(what + " at line " + std::to_string(line) + ", column " + std::to_string(column));
}

json parse(const std::string& text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw FileError("is UTF-16: a result file is UTF-8");
  }
  try {
    return json_from_text(text, RepeatedKeys::refused);
  } catch (const JsonLimitError& error) {
    throw FileError(error.what());
  } catch (const json::parse_error& error) {
    const bool is_truncated = error.byte > text.size();
    fail_at(text, error.byte, is_truncated ? "is not complete JSON: it ends" : "is not JSON");
  } catch (const json::out_of_range&) {
    throw FileError("holds a number beyond the range of a double");
  } catch (const json::exception& error) {
    throw FileError(std::string("is not JSON: ") + error.what());
  }
}

int64_t major_of(const std::string& version) {
  int64_t major = -1;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), major);
  const bool is_version =
      error == std::errc() && end != version.data() + version.size() && *end == '.' && major >= 0;
  if (!is_version) {
    throw FileError("schema_version '" + version + "' is not a version: expected one like " +
                    std::string(kSchemaVersion));
  }
  return major;
}

void check_version(const ObjectReader& reader) {
  if (!reader.has("schema_version")) {
    throw FileError("schema_version is missing: not a result file of precbench");
  }
  const auto version = reader.required<std::string>("schema_version");
  const int64_t own = major_of(std::string(kSchemaVersion));
  const int64_t theirs = major_of(version);
  if (theirs == own) return;
  throw FileError(
      "has schema version " + version + ", this precbench reads " + std::to_string(own) +
      ".x: " + (theirs > own ? "use a newer precbench" : "run it again with this precbench"));
}

ModeRecord mode_from(const ObjectReader& reader) {
  auto mode = record_from<ModeRecord>(reader);
  if (mode.effective_mode.empty()) mode.effective_mode = mode.mode;
  // Files of before there were several engines name none.
  const auto engine = reader.value_or<std::string>("engine", std::string(kLibtorchEngine));
  if (std::find(kEngines.begin(), kEngines.end(), engine) == kEngines.end()) {
    reader.fail("engine", "'" + engine + "' is not libtorch or fabric");
  }
  // A row of the engine fabric names it behind a stroke.
  const std::string ran = mode.effective_mode.substr(0, mode.effective_mode.find('/'));
  const bool are_known = find_mode(mode.mode) != nullptr && find_mode(ran) != nullptr;
  if (are_known && !may_run_as(mode.mode, ran)) {
    reader.fail("effective_mode",
                "'" + mode.effective_mode + "' does not stand in for '" + mode.mode + "'");
  }
  mode.mode = row_name(mode.mode, engine);
  for (size_t i = 0; i < mode.runs.size(); ++i) {
    if (mode.runs[i].status == Status::ok && mode.runs[i].time.total_s == 0.0) {
      reader.objects("runs")[i].object("time").fail("total_s", "must be over 0 where a run is ok");
    }
  }
  return mode;
}

ResultDocument document_from(const json& root) {
  const ObjectReader reader(root, "");
  check_version(reader);
  ResultDocument document;
  document.schema_version = reader.required<std::string>("schema_version");
  document.tool = reader.object("tool").raw();
  document.invocation = reader.object("invocation").raw();
  document.protocol = reader.object("protocol").raw();
  document.environment = reader.object("environment").raw();
  std::set<std::string> names;
  for (const ObjectReader& mode : reader.objects("modes")) {
    document.modes.push_back(mode_from(mode));
    if (!names.insert(document.modes.back().mode).second) {
      mode.fail("mode", "'" + document.modes.back().mode + "' stands there twice");
    }
  }
  document.reference = reader.value_or<std::string>("reference", "");
  if (const auto gate = reader.optional_object("gate")) document.gate = gate->raw();
  return document;
}

}  // namespace

ResultDocument load_result(const std::string& path) {
  const auto named = [&](const std::string& what) {
    return FileError(terminal_text(path) + ": " + shortened(terminal_text(what)));
  };
  try {
    return document_from(parse(read_file(path)));
  } catch (const FileError& error) {
    throw named(std::string("result file ") + error.what());
  } catch (const JsonFieldError& error) {
    throw named(std::string("not a result file: ") + error.what());
  }
}

}  // namespace precbench
