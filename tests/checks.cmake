# Checks of the sources and the sanitizers' run, as tests, so that one list at the end says everything.
# `scripts/check tidy` is run by hand: over all files it takes longer than everything else together on two cores.
foreach(check format shell sanitizers)
  add_test(NAME checks/${check} COMMAND "${CMAKE_SOURCE_DIR}/scripts/check" ${check})
  set_tests_properties(checks/${check} PROPERTIES LABELS check)
endforeach()
# The sanitizers' run uses all cores itself.
set_tests_properties(checks/sanitizers PROPERTIES PROCESSORS 2 TIMEOUT 1200)
add_test(NAME checks/layers COMMAND "${PRECBENCH_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/layers.py" "${CMAKE_SOURCE_DIR}")
set_tests_properties(checks/layers PROPERTIES LABELS check)
