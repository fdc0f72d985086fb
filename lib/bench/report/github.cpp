#include "bench/report/github.h"

#include <cstdlib>
#include <fstream>

#include "bench/report/block.h"
#include "bench/text/escape.h"
#include "bench/text/words.h"
#include "common/errors.h"

namespace precbench {
namespace {

// As the runner's own toolkit escapes (actions/toolkit, command.ts): data, and in properties also
// the separators.
std::string escaped(const std::string& text, bool is_property) {
  std::string result;
  for (const char c : terminal_text(text)) {
    if (c == '%') {
      result += "%25";
    } else if (is_property && c == ':') {
      result += "%3A";
    } else if (is_property && c == ',') {
      result += "%2C";
    } else {
      result += c;
    }
  }
  return result;
}

std::string command(const std::string& level, const std::string& title, const std::string& text) {
  return "::" + level + " title=" + escaped(title, true) + "::" + escaped(text, false);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool in_github_actions() { return variable("GITHUB_ACTIONS") == "true"; }

std::vector<std::string> gate_annotations(const GateResult& gate) {
  std::vector<std::string> lines;
  for (const GateVerdict& verdict : gate.verdicts) {
    if (verdict.outcome == GateOutcome::passed) continue;
    const bool is_failed = verdict.outcome == GateOutcome::failed;
    lines.push_back(
        command(is_failed ? "error" : "warning",
                "precbench: " + verdict.rule + " " + std::string(name_of(verdict.outcome)),
                verdict.mode + ": " + verdict.why));
  }
  return lines;
}

std::vector<std::string> result_annotations(const ResultDocument& document) {
  std::vector<std::string> lines;
  for (const ModeRecord& mode : document.modes) {
    if (is_failure(mode.status)) {
      lines.push_back(command("error", "precbench: " + mode.mode + " failed",
                              std::string(words_for(mode.status)) +
                                  (mode.reason ? ": " + shortened(*mode.reason) : "")));
    } else if (mode.status == Status::ok && mode.support &&
               mode.support->verdict == SupportLevel::emulated) {
      lines.push_back(
          command("warning", "precbench: " + mode.mode + " is emulated", mode.support->why));
    }
  }
  return lines;
}

void append_job_summary(const std::string& markdown) {
  const std::string path = variable("GITHUB_STEP_SUMMARY");
  if (path.empty()) return;
  std::ofstream file(path, std::ios::app | std::ios::binary);
  file << markdown << "\n";
  file.flush();
  if (!file) throw FileError("cannot append to the job summary " + path);
}

}  // namespace precbench
