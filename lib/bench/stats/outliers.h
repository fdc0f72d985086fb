// Which of repeated measurements stand apart.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace precbench {

// Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993): the modified z-score of a
// normal sample lies beyond this for one value in 2,000.
inline constexpr double kOutlierScore = 3.5;

// With fewer values the median absolute deviation may be of two neighbours and says nothing.
inline constexpr size_t kFewestForOutliers = 5;

// 0.6745 (x - median) / MAD for each value; where over half of the values are equal (MAD 0) the
// mean absolute deviation takes its place (x / 1.253314, as in that book). All 0 for equal values.
std::vector<double> modified_z_scores(std::span<const double> values);

// Indices of outliers that also lie `share` of the median away from it; none with fewer than
// kFewestForOutliers values.
std::vector<size_t> outliers(std::span<const double> values, double share = 0.05);

}  // namespace precbench
