// docs/cli.md holds the option table. This test compares, and with PRECBENCH_UPDATE_DOCS=1 writes
// the table anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../places.h"
#include "bench/plan/options.h"

namespace precbench::plan_cli_doc_test {
namespace {

constexpr std::string_view kBegin = "<!-- options: begin (generated) -->\n";
constexpr std::string_view kEnd = "<!-- options: end -->\n";

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string values(const OptionSpec& option) {
  switch (option.type) {
    case OptionType::flag:
      return "";
    case OptionType::choice: {
      std::string words;
      for (const std::string& word : option.allowed)
        words += (words.empty() ? "" : ", ") + code(word);
      return words;
    }
    case OptionType::integer:
    case OptionType::number:
      return fmt::format("{:.15g} to {:.15g}", option.low, option.high);
    case OptionType::integers:
      return fmt::format("list, each {:.15g} to {:.15g}", option.low, option.high);
    case OptionType::list:
      return "list";
    case OptionType::duration:
      return "duration";
    case OptionType::size:
      return "size";
    case OptionType::repeatable:
      return "text, repeatable";
    case OptionType::text:
      break;
  }
  return "text";
}

std::string table() {
  std::string text;
  std::string group;
  for (const OptionSpec& option : option_table()) {
    if (option.is_hidden) continue;
    if (option.group != group) {
      text += (group.empty() ? "" : "\n") + fmt::format("**{}**\n\n", option.group);
      text += "| option | values | default | |\n|---|---|---|---|\n";
      group = option.group;
    }
    std::string flag = code("--" + option.name);
    if (!option.short_name.empty()) flag = code("-" + option.short_name) + " " + flag;
    std::string help = option.help;
    for (size_t at = 0; (at = help.find('|', at)) != std::string::npos; at += 2)
      help.insert(at, "\\");
    const bool shows_default = option.type != OptionType::flag;
    text += fmt::format("| {} | {} | {} | {} |\n", flag, values(option),
                        shows_default ? code(option.default_text) : "", help);
  }
  return text;
}

TEST(CliDoc, HoldsTheOptionTable) {
  const std::string path = source_dir() + "/docs/cli.md";
  std::stringstream stream;
  stream << std::ifstream(path).rdbuf();
  const std::string page = stream.str();
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos) << path;
  ASSERT_NE(end, std::string::npos) << path;
  const size_t from = begin + kBegin.size();
  if (std::getenv("PRECBENCH_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page.substr(0, from) << table() << page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), table())
      << "run the test with PRECBENCH_UPDATE_DOCS=1 to write the table anew";
}

}  // namespace
}  // namespace precbench::plan_cli_doc_test
