# ccache, when it is there, set so that a clone in another folder hits: paths are made relative to the source
# folder, and the precompiled header is identified by its content.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_PCH_EXTSUM=1
      "${CCACHE}")
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>"
                      "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
endif()
