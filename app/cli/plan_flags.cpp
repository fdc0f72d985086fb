#include "cli/plan_flags.h"

#include "bench/plan/options.h"

namespace precbench::cli {
namespace {

std::string flag_text(const OptionSpec& option) {
  return (option.short_name.empty() ? "" : "-" + option.short_name + ",") + "--" + option.name;
}

}  // namespace

void PlanFlags::add_to(CLI::App& command) {
  for (const OptionSpec& option : option_table()) {
    if (option.type == OptionType::flag) {
      declared_.emplace_back(option.name, command.add_flag(flag_text(option), option.help));
      continue;
    }
    auto* added = command.add_option(flag_text(option))
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
    if (is_flag) all = {texts.back()};  // -q -q is -q
  }
  return given;
}

}  // namespace precbench::cli
