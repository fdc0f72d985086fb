// "did you mean": the candidate nearest to a misspelt word.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace precbench {

// The candidate with the smallest edit distance to `word`, if that is at most a third of its length
// (at least 1); otherwise nothing: a far-fetched guess is worse than none.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// "a b c", for the "allowed" part of an error.
std::string joined(const std::vector<std::string>& words, std::string_view separator = " ");

}  // namespace precbench
