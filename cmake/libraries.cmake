# Other people's libraries go into our programs, from the archives that Debian's and Ubuntu's -dev packages bring: what
# is built here starts on another system, whatever versions of them that has. A shared one serves where no archive is.

# precbench_find_library(NAME HEADER FILE...): the target precbench::NAME; FILE are its library's names, best first.
function(precbench_find_library name header)
  find_library(PRECBENCH_${name}_LIBRARY NAMES ${ARGN} DOC "library of ${name}")
  find_path(PRECBENCH_${name}_INCLUDE_DIR ${header} DOC "folder of ${header}")
  if(NOT PRECBENCH_${name}_LIBRARY OR NOT PRECBENCH_${name}_INCLUDE_DIR)
    message(FATAL_ERROR "${name} was not found (${header} and one of ${ARGN}); scripts/precbench installs its package")
  endif()
  get_filename_component(file "${PRECBENCH_${name}_LIBRARY}" NAME)
  add_library(precbench::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(precbench::${name} PROPERTIES
    IMPORTED_LOCATION "${PRECBENCH_${name}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PRECBENCH_${name}_INCLUDE_DIR}"
    # The worker exports to its device modules, and so to LibTorch, what is ours alone.
    INTERFACE_LINK_OPTIONS "LINKER:--exclude-libs,${file}")
endfunction()

precbench_find_library(zlib zlib.h libz.a z)
precbench_find_library(uv uv.h libuv_a.a libuv.a uv)
precbench_find_library(crypto openssl/evp.h libcrypto.a crypto)
precbench_find_library(pugixml pugixml.hpp libpugixml.a pugixml)
