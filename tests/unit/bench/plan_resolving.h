// Resolves options as the command line would, from flags and variables given as maps.
#pragma once

#include <map>
#include <string>

#include "bench/plan/make_plan.h"
#include "bench/plan/resolver.h"

namespace precbench::testing {

using Variables = std::map<std::string, std::string>;

inline ResolvedOptions resolved(const GivenFlags& flags, const Variables& variables = {}) {
  return resolve(flags, [&](const char* name) -> const char* {
    const auto entry = variables.find(name);
    return entry == variables.end() ? nullptr : entry->second.c_str();
  });
}

inline Plan planned(const GivenFlags& flags, const Variables& variables = {}) {
  return make_plan(resolved(flags, variables), {"precbench"});
}

// What the error says; empty when nothing is thrown.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace precbench::testing
