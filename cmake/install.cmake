# A relocatable tree: bin/, lib/, share/precbench/. The programs find the rest from /proc/self/exe, the worker its
# LibTorch by its RUNPATH or, with PRECBENCH_LIBTORCH, by the LD_LIBRARY_PATH that precbench gives it alone.
include(GNUInstallDirs)
install(TARGETS precbench RUNTIME DESTINATION bin)
if(PRECBENCH_WORKER)
  install(TARGETS precbench-worker RUNTIME DESTINATION bin)
endif()
install(DIRECTORY configs results DESTINATION share/precbench)
install(FILES LICENSE THIRD_PARTY.md README.md DESTINATION share/precbench)
