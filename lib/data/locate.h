// Where the files of a named data set are on this machine. Nothing is downloaded here.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace precbench::data {

struct IdxFiles {
  std::string train_images, train_labels, test_images, test_labels;
  std::vector<std::string> all() const {
    return {train_images, train_labels, test_images, test_labels};
  }
};

// The folders that are searched, in this order: `data_dir` and its subfolder of that name if one is
// given, alone; else ${XDG_DATA_HOME:-~/.local/share}/precbench/datasets/NAME, then
// /usr/share/datasets/NAME (Debian).
std::vector<std::string> search_folders(const std::string& name, const std::string& data_dir);

// The four files in the first folder that has them all, plain preferred to .gz; nothing if none
// has.
std::optional<IdxFiles> find_idx_files(const std::string& name, const std::string& data_dir);

// The same; throws FileError that says where it looked, what is missing and how to get it.
IdxFiles locate_idx_files(const std::string& name, const std::string& data_dir);

}  // namespace precbench::data
