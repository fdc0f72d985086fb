# A relocatable tree: bin/precbench, share/precbench/, and libexec/precbench/2.11/ with the worker and the device modules
# for one release of LibTorch. Several builds installed into one folder make a tree for several releases. The programs find
# the rest from /proc/self/exe; the worker has no path to a LibTorch, precbench looks for one
# (lib/bench/worker/worker_command.h).
install(TARGETS precbench RUNTIME DESTINATION bin COMPONENT precbench)
if(PRECBENCH_WORKER)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${LibTorch_VERSION}")
  # precbench_install_worker_part(TARGET KIND FOLDER)
  function(precbench_install_worker_part target kind folder)
    set(place "libexec/precbench/${release}/${folder}")
    install(TARGETS ${target} ${kind} DESTINATION "${place}" COMPONENT worker)
    install(CODE "file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place}/$<TARGET_FILE_NAME:${target}>\")"
            COMPONENT worker)
  endfunction()
  precbench_install_worker_part(precbench-worker RUNTIME bin)
  precbench_install_worker_part(precbench_simulated_gpu LIBRARY lib)
  precbench_install_worker_part(precbench_measure LIBRARY lib)
  foreach(module precbench_cuda precbench_gloo)
    if(TARGET ${module})
      precbench_install_worker_part(${module} LIBRARY lib)
    endif()
  endforeach()
endif()

# share/precbench in the build folder: links, so that an edited config counts at once.
set(share "${CMAKE_BINARY_DIR}/share")
file(MAKE_DIRECTORY "${share}/precbench")
foreach(folder configs results schema)
  if(IS_DIRECTORY "${CMAKE_SOURCE_DIR}/${folder}")
    file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${folder}" "${share}/precbench/${folder}" SYMBOLIC)
    # results/ is also where runs are saved by default: only what is published travels.
    install(DIRECTORY "${folder}" DESTINATION share/precbench COMPONENT precbench PATTERN "results/*.json" EXCLUDE)
  endif()
endforeach()
file(CREATE_LINK "${CMAKE_SOURCE_DIR}/python/get.py" "${share}/precbench/get.py" SYMBOLIC)
# The worker of --engine fabric; in the build folder precbench finds the Python that LibTorch lies in by the second file.
file(CREATE_LINK "${CMAKE_SOURCE_DIR}/python/precbench_fabric" "${share}/precbench/precbench_fabric" SYMBOLIC)
if(PRECBENCH_WORKER)
  get_filename_component(libtorch_folder "${LibTorch_LIBRARY_DIR}" DIRECTORY)
  file(WRITE "${share}/precbench/libtorch" "${libtorch_folder}\n")
endif()
install(DIRECTORY python/precbench_fabric DESTINATION share/precbench COMPONENT precbench
        PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE THIRD_PARTY.md README.md CHANGELOG.md python/get.py DESTINATION share/precbench COMPONENT precbench)

# What the shells complete and what man shows; where they look for it below any prefix.
foreach(generated bash:bash-completion/completions/precbench zsh:zsh/site-functions/_precbench
                  fish:fish/vendor_completions.d/precbench.fish man:man/man1/precbench.1)
  string(REGEX MATCH "^([a-z]+):(.*)$" _ "${generated}")
  set(what "${CMAKE_MATCH_1}")
  set(file "${CMAKE_MATCH_2}")
  get_filename_component(folder "${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${share}/${folder}")
  add_custom_command(OUTPUT "${share}/${file}" COMMAND precbench generate "${what}" > "${share}/${file}"
                     DEPENDS precbench VERBATIM COMMENT "Writing ${file}")
  list(APPEND generated_files "${share}/${file}")
  install(FILES "${share}/${file}" DESTINATION "share/${folder}" COMPONENT precbench)
endforeach()
add_custom_target(precbench_shell_files ALL DEPENDS ${generated_files})
