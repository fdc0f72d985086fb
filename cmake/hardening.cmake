# A release reads files from outside: an overflow ends the program instead of going on, and no table of addresses can be
# written to once it has started. Debian's compilers do none of this by themselves.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fcf-protection=full PRECBENCH_HAS_CF_PROTECTION)  # x86 only
set(hardening -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
if(PRECBENCH_HAS_CF_PROTECTION)
  list(APPEND hardening -fcf-protection=full)
endif()
add_compile_options("$<$<CONFIG:Release>:${hardening}>")
add_link_options("$<$<CONFIG:Release>:LINKER:-z,relro;LINKER:-z,now>")
