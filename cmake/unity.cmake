# What users and CI build is compiled folder by folder, since reading LibTorch's, JSON's or GoogleTest's headers takes
# far longer than our own lines: one file for each folder, or for the folders that a list joins with '+' where each of
# them is small. Anonymous names are unique within such a file. The preset debug compiles file by file (PRECBENCH_UNITY
# OFF), for those who edit.
option(PRECBENCH_UNITY "compile each folder of sources as one file" ON)

# precbench_unity(TARGET ROOT [FOLDER+FOLDER...]...): groups TARGET's sources by their first folder below ROOT; a file
# outside of it stays by itself.
function(precbench_unity target root)
  if(NOT PRECBENCH_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes a class of a .cpp for one of a header here, and warns of its anonymous members.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(absolute "${source}" ABSOLUTE)
    file(RELATIVE_PATH path "${root}" "${absolute}")
    if(path MATCHES "^\\.\\.|^generated/" OR NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    set(group "files")
    if(path MATCHES "^([^/]+)/")
      set(group "${CMAKE_MATCH_1}")
    endif()
    foreach(joined IN LISTS ARGN)
      if("+${joined}+" MATCHES "\\+${group}\\+")
        string(REPLACE "+" "_" group "${joined}")
        break()
      endif()
    endforeach()
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${group}")
  endforeach()
endfunction()
