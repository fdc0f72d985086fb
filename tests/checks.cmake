# Checks of the sources and the sanitizers' run, as tests, so that one list at the end says everything.
foreach(check format tidy shell sanitizers)
  add_test(NAME checks/${check} COMMAND "${CMAKE_SOURCE_DIR}/scripts/check" ${check})
  set_tests_properties(checks/${check} PROPERTIES LABELS check)
endforeach()
# These two use all cores themselves; clang-tidy takes long on two.
set_tests_properties(checks/tidy checks/sanitizers PROPERTIES PROCESSORS 2 TIMEOUT 1200)
