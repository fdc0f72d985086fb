add_library(precbench_warnings INTERFACE)
target_compile_options(precbench_warnings INTERFACE -Wall -Wextra -Wconversion)
# GCC 12 and 13 see an overlapping copy in `"text" + std::string` (GCC bug 105651): there is none.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(precbench_warnings INTERFACE -Wno-restrict)
endif()
# Which variables GCC takes for uninitialized depends on how much it has inlined; a std::optional's value is among them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(precbench_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(PRECBENCH_WERROR)
  target_compile_options(precbench_warnings INTERFACE -Werror)
endif()
