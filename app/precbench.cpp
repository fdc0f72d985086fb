#include "common/version.h"
#include <cstdio>

int main() { std::printf("precbench %s\n", precbench::tool_version().c_str()); }
