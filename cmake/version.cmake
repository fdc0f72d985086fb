# Writes version.cpp, run at every build: version, git SHA, build type and compiler stand in this one generated
# file, so that a new commit recompiles nothing else. Needs -D SOURCE_DIR, OUTPUT, VERSION, BUILD_TYPE, COMPILER.
set(sha_value "std::nullopt")
set(sha_reason "built outside a git checkout")
find_program(GIT git)
if(NOT GIT)
  set(sha_reason "git was not there at build time")
elseif(EXISTS "${SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" rev-parse HEAD
                  OUTPUT_VARIABLE sha OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(sha_reason "git rev-parse HEAD failed at build time")
  else()
    execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" status --porcelain --untracked-files=no
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND sha "-dirty")
    endif()
    set(sha_value "\"${sha}\"")
    set(sha_reason "")
  endif()
endif()

set(text "#include \"common/version.h\"

namespace precbench {

std::string tool_version() { return \"${VERSION}\"; }
std::optional<std::string> tool_git_sha() { return ${sha_value}; }
std::string tool_git_sha_unknown_reason() { return \"${sha_reason}\"; }
std::string tool_build_type() { return \"${BUILD_TYPE}\"; }
std::string tool_compiler() { return \"${COMPILER}\"; }

}  // namespace precbench
")
set(previous "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" previous)
endif()
if(NOT previous STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
