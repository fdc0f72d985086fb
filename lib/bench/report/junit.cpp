#include "bench/report/junit.h"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "bench/report/block.h"
#include "bench/report/gate_view.h"
#include "bench/report/heading.h"
#include "bench/result/measured.h"
#include "bench/text/escape.h"
#include "bench/text/units.h"
#include "bench/text/words.h"

namespace precbench {
namespace {

struct Case {
  std::string suite, name;
  double seconds = 0;
  std::string failure, skipped;  // messages; empty = passed
  std::string output;
};

void append_case(pugi::xml_node suite, const Case& test) {
  pugi::xml_node node = suite.append_child("testcase");
  node.append_attribute("name") = terminal_text(test.name).c_str();
  node.append_attribute("classname") = test.suite.c_str();
  node.append_attribute("time") = fmt::format("{:.3f}", test.seconds).c_str();
  if (!test.failure.empty()) {
    pugi::xml_node failure = node.append_child("failure");
    failure.append_attribute("message") = terminal_text(test.failure).c_str();
    failure.text() = terminal_text(test.failure).c_str();
  }
  if (!test.skipped.empty()) {
    node.append_child("skipped").append_attribute("message") = terminal_text(test.skipped).c_str();
  }
  if (!test.output.empty()) node.append_child("system-out").text() = test.output.c_str();
}

void append_suite(pugi::xml_node root, const std::string& name, const std::vector<Case>& cases) {
  pugi::xml_node suite = root.append_child("testsuite");
  int failures = 0, skipped = 0;
  double seconds = 0;
  for (const Case& test : cases) {
    failures += test.failure.empty() ? 0 : 1;
    skipped += test.skipped.empty() ? 0 : 1;
    seconds += test.seconds;
  }
  suite.append_attribute("name") = name.c_str();
  suite.append_attribute("tests") = static_cast<unsigned>(cases.size());
  suite.append_attribute("failures") = failures;
  suite.append_attribute("errors") = 0;
  suite.append_attribute("skipped") = skipped;
  suite.append_attribute("time") = fmt::format("{:.3f}", seconds).c_str();
  for (const Case& test : cases) append_case(suite, test);
}

std::string saved(const pugi::xml_document& document) {
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

pugi::xml_node root_of(pugi::xml_document& document) {
  pugi::xml_node declaration = document.prepend_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  root.append_attribute("name") = "precbench";
  return root;
}

Case case_of(const ModeRecord& mode) {
  Case test{"precbench.modes", mode.mode, 0, "", "", ""};
  for (const RunRecord& run : mode.runs) {
    test.seconds += run.time.total_s.value_or(0);
    test.output += std::string(test.output.empty() ? "" : "\n") +
                   render_block(mode.mode, run.seed, run, mode.runs.size() == 1);
  }
  if (mode.status == Status::ok) return test;
  const std::string what =
      std::string(words_for(mode.status)) + (mode.reason ? ": " + shortened(*mode.reason) : "");
  (is_failure(mode.status) ? test.failure : test.skipped) = what;
  return test;
}

Case gate_case(const std::string& mode, const std::string& rule, const std::string& outcome,
               const std::string& why) {
  Case test{"precbench.gate", mode + " " + rule, 0, "", "", ""};
  if (outcome == "failed") test.failure = why.empty() ? "failed" : why;
  if (outcome == "inconclusive") test.skipped = "inconclusive: " + why;
  return test;
}

}  // namespace

std::string junit_of_result(const ResultDocument& document) {
  pugi::xml_document xml;
  pugi::xml_node root = root_of(xml);
  std::vector<Case> cases;
  for (const ModeRecord& mode : document.modes) cases.push_back(case_of(mode));
  append_suite(root, "precbench on " + device_name(document), cases);
  if (const auto gate = gate_view(document)) {
    std::vector<Case> verdicts;
    for (const GateView::Row& row : gate->rows) {
      verdicts.push_back(gate_case(row.mode, row.rule, row.outcome, row.why));
    }
    append_suite(root, "precbench gate", verdicts);
  }
  return saved(xml);
}

std::string junit_of_gate(const GateResult& gate) {
  pugi::xml_document xml;
  std::vector<Case> cases;
  for (const GateVerdict& verdict : gate.verdicts) {
    cases.push_back(
        gate_case(verdict.mode, verdict.rule, std::string(name_of(verdict.outcome)), verdict.why));
  }
  append_suite(root_of(xml), "precbench gate", cases);
  return saved(xml);
}

}  // namespace precbench
