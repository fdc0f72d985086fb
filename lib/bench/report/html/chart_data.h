// What the charts of the HTML report show, as JSON for page.js, thinned to what a screen can.
#pragma once

#include <string>
#include <vector>

#include "bench/result/document.h"

namespace precbench::html {

struct Chart {
  std::string id;  // a drawer in page.js: time | loss | accuracy | progress | steps | memory
  std::string title;
  std::string in_words;  // for those who cannot see it
};

// The charts that the document has data for.
std::vector<Chart> charts_of(const ResultDocument& document);

// {time: {modes: [...], parts: [{name, values: [...]}]},
//  loss: {series: [{mode, index, points: [[x, y | null], ...]}]}, accuracy: {...}, steps: {...},
//  progress: {series: [{mode, index, points, with several runs low and high: [[s, %], ...]}],
//  target, target_words, unit}, memory: as time}. Modes whose curves are the same share one,
// "16-mixed = 32-true".
json chart_data(const ResultDocument& document);

}  // namespace precbench::html
