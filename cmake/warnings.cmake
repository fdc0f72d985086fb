add_library(precbench_warnings INTERFACE)
target_compile_options(precbench_warnings INTERFACE -Wall -Wextra -Wconversion)
# GCC 12 and 13 see an overlapping copy in `"text" + std::string` (GCC bug 105651): there is none.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(precbench_warnings INTERFACE -Wno-restrict)
endif()
if(PRECBENCH_WERROR)
  target_compile_options(precbench_warnings INTERFACE -Werror)
endif()
