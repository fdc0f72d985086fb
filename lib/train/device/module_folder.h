// Where the modules lie that a worker loads at run time.
#pragma once

#include <filesystem>

namespace precbench::train {

// lib/ beside the program's bin/; tests put stand-ins elsewhere (PRECBENCH_DEVICE_MODULES).
std::filesystem::path module_folder();

}  // namespace precbench::train
