// Where the files of a named data set are on this machine. Nothing is downloaded here.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "data/cifar.h"

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

// The folder or archive of CIFAR's binary version: `data_dir` itself, or in one of the search
// folders the folder that the archive unpacks to, or the archive.
std::optional<std::string> find_cifar_files(const CifarFormat& format, const std::string& data_dir);

// The text: `data_dir` if it is a file, else input.txt[.gz] in one of the search folders, else the
// GPL of every Debian and Ubuntu.
std::optional<std::string> find_text_file(const std::string& data_dir);

// Where a data set with files is, for people; nothing if it is not here.
std::optional<std::string> find_dataset_files(const std::string& name, const std::string& data_dir);

// The path to the data of `cifar10`, `cifar100`, `text` or `bundle`; throws FileError that says
// where it looked and how to get it.
std::string locate_dataset(const std::string& name, const std::string& data_dir);

}  // namespace precbench::data
