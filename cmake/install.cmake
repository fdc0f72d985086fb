# A relocatable tree: bin/, lib/, share/precbench/. The programs find the rest from /proc/self/exe, the worker its
# LibTorch by its RUNPATH or, with PRECBENCH_LIBTORCH, by the LD_LIBRARY_PATH that precbench gives it alone.
include(GNUInstallDirs)
install(TARGETS precbench RUNTIME DESTINATION bin)
if(PRECBENCH_WORKER)
  install(TARGETS precbench-worker RUNTIME DESTINATION bin)
  install(TARGETS precbench_simulated_gpu LIBRARY DESTINATION lib)
  if(TARGET precbench_cuda)
    install(TARGETS precbench_cuda LIBRARY DESTINATION lib)
  endif()
endif()

# share/precbench in the build folder: links, so that an edited config counts at once.
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/share/precbench")
foreach(folder configs results schema)
  if(IS_DIRECTORY "${CMAKE_SOURCE_DIR}/${folder}")
    file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${folder}" "${CMAKE_BINARY_DIR}/share/precbench/${folder}" SYMBOLIC)
    # results/ is also where runs are saved by default: only what is published travels.
    install(DIRECTORY "${folder}" DESTINATION share/precbench PATTERN "results/*.json" EXCLUDE)
  endif()
endforeach()
install(FILES LICENSE THIRD_PARTY.md README.md CHANGELOG.md DESTINATION share/precbench)
