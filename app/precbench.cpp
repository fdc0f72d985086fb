#include <cstdio>

#include "common/version.h"

int main() { std::printf("precbench %s\n", precbench::tool_version().c_str()); }
