# One ctest entry for each suite of a GoogleTest program, where each start costs more than most of its cases:
# precbench_suite_tests(PROGRAM PREFIX PROPERTY VALUE...). As gtest_discover_tests, it asks the built program.
function(precbench_suite_tests program prefix)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake")
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:${program}>" -D "PREFIX=${prefix}" -D "PROPERTIES=${ARGN}"
            -D "OUTPUT=${file}" -P "${CMAKE_SOURCE_DIR}/cmake/test_suites.cmake"
    BYPRODUCTS "${file}" VERBATIM)
  if(NOT EXISTS "${file}")  # a test that fails until the program is built
    file(WRITE "${file}" "add_test([=[${prefix}NOT_BUILT]=] [=[${program}_NOT_BUILT]=])\n")
  endif()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND "${PROGRAM}" --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "(^|\n)[^ \n][^ \n]*\\.(\n|  #)" suites "${listed}")
  string(REPLACE ";" "]=] [=[" properties "${PROPERTIES}")
  set(tests "")
  foreach(suite IN LISTS suites)
    string(REGEX REPLACE "\\.[\n ].*|\n" "" suite "${suite}")
    string(APPEND tests "add_test([=[${PREFIX}${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}.*]=])\n"
                        "set_tests_properties([=[${PREFIX}${suite}]=] PROPERTIES [=[${properties}]=])\n")
  endforeach()
  file(WRITE "${OUTPUT}" "${tests}")
endif()
