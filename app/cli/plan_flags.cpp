#include "cli/plan_flags.h"

#include <algorithm>

#include "bench/plan/options.h"

namespace precbench::cli {
namespace {

std::string flag_text(const OptionSpec& option) {
  return (option.short_name.empty() ? "" : "-" + option.short_name + ",") + "--" + option.name;
}

std::string help_with_default(const OptionSpec& option) {
  return option.help + (option.default_text.empty() ? "" : " [" + option.default_text + "]");
}

}  // namespace

void PlanFlags::add_to(CLI::App& command, const std::vector<std::string_view>& names) {
  for (const OptionSpec& option : option_table()) {
    if (!names.empty() && std::find(names.begin(), names.end(), option.name) == names.end())
      continue;
    if (command.get_option_no_throw("--" + option.name) != nullptr) continue;
    if (option.type == OptionType::flag) {
      auto* added = command.add_flag(flag_text(option), option.help)->group(option.group);
      declared_.emplace_back(option.name, added);
      continue;
    }
    auto* added = command.add_option(flag_text(option))
                      ->description(help_with_default(option))
                      ->type_name(option.hint)
                      ->group(option.group)
                      ->type_size(1)
                      ->expected(1)
                      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                      ->allow_extra_args(false);
    declared_.emplace_back(option.name, added);
  }
}

GivenFlags PlanFlags::given() const {
  GivenFlags given;
  for (const auto& [name, option] : declared_) {
    if (option->count() == 0) continue;
    const CLI::results_t& texts = option->results();
    std::vector<std::string>& all = given[name];
    all.insert(all.end(), texts.begin(), texts.end());  // of the root and of `run`
    const bool is_flag = find_option(name)->type == OptionType::flag;
    if (!is_flag) continue;
    const std::string& twice = find_option(name)->twice;
    if (all.size() > 1 && !twice.empty()) given[twice] = {"true"};
    given[name] = {texts.back()};  // -q -q is -q
  }
  return given;
}

}  // namespace precbench::cli
