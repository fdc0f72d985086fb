// A Python of this machine, asked for what only it knows. Nothing of it runs while anything is
// measured.
#pragma once

#include <string>

namespace precbench {

struct PythonAnswer {
  bool started = false;
  std::string problem;  // if it did not start: in words
  std::string text;     // what it printed, without the last newline; empty if it failed
};

// Runs `code` after `import importlib.util, os, sys` in `python` (a path, or a name in PATH), with
// the current folder taken out of sys.path: no code of that folder runs.
PythonAnswer ask_python(const std::string& python, const std::string& code);

}  // namespace precbench
