# Finds a LibTorch and defines our own imported targets for it, without LibTorch's TorchConfig.cmake: that one
# fails where no CUDA toolkit is installed, and puts the toolkit's folders into the rpath where one is.
#
#   PRECBENCH_LIBTORCH   folder of a LibTorch: <dir>/include/torch and <dir>/lib/libtorch_cpu.so
#                        (a Python wheel's site-packages/torch is one)
#
# Targets: LibTorch::cpu (libtorch_cpu, libc10); LibTorch::cuda (libtorch_cuda, libc10_cuda) where
# LibTorch was built with CUDA and its headers are there. They need no toolkit: the wheels that torch depends on bring
# nvidia/cu13/include (CUDA 12: one folder per package), and the wheel nvidia-cuda-crt (nvidia-cuda-nvcc-cu12) the one
# header that those lack. Sets LibTorch_VERSION ("2.11.0"), LibTorch_LIBRARY_DIR, and LibTorch_CUDA_MISSING (why there
# is no LibTorch::cuda).

set(PRECBENCH_LIBTORCH "$ENV{PRECBENCH_LIBTORCH}" CACHE PATH "folder of a LibTorch")
set(PRECBENCH_CUDA_HEADERS "" CACHE STRING "more folders of CUDA headers (patterns)")

# A build folder may be given another LibTorch: what was found in the old one is forgotten.
if(NOT PRECBENCH_LIBTORCH STREQUAL LibTorch_LAST_DIR)
  get_cmake_property(cached CACHE_VARIABLES)
  list(FILTER cached INCLUDE REGEX "^LibTorch_")
  foreach(variable IN LISTS cached)
    unset(${variable} CACHE)
  endforeach()
  set(LibTorch_LAST_DIR "${PRECBENCH_LIBTORCH}" CACHE INTERNAL "the LibTorch folder of the last configuration")
endif()

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS "${PRECBENCH_LIBTORCH}/include" NO_DEFAULT_PATH)
find_path(LibTorch_API_INCLUDE_DIR torch/torch.h
          HINTS "${PRECBENCH_LIBTORCH}/include/torch/csrc/api/include" NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS "${PRECBENCH_LIBTORCH}/lib" NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 HINTS "${PRECBENCH_LIBTORCH}/lib" NO_DEFAULT_PATH)

if(LibTorch_INCLUDE_DIR)
  # The numbers moved from the C++ API's version.h to the header-only one with 2.9.
  foreach(header torch/csrc/api/include/torch/version.h torch/headeronly/version.h)
    if(EXISTS "${LibTorch_INCLUDE_DIR}/${header}")
      file(STRINGS "${LibTorch_INCLUDE_DIR}/${header}" line REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      foreach(definition IN LISTS line)
        string(REGEX MATCH "TORCH_VERSION_([A-Z]+) ([0-9]+)" _ "${definition}")
        set(_torch_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
      endforeach()
    endif()
  endforeach()
  set(LibTorch_VERSION "${_torch_MAJOR}.${_torch_MINOR}.${_torch_PATCH}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR LibTorch_API_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "set PRECBENCH_LIBTORCH to a folder with include/torch and lib/libtorch_cpu.so, \
or run scripts/precbench, which finds or installs one")

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  get_filename_component(LibTorch_LIBRARY_DIR "${LibTorch_CPU_LIBRARY}" DIRECTORY)
  add_library(LibTorch::c10 SHARED IMPORTED GLOBAL)
  set_target_properties(LibTorch::c10 PROPERTIES
    IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_API_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_API_INCLUDE_DIR}")
  add_library(LibTorch::cpu SHARED IMPORTED GLOBAL)
  set_target_properties(LibTorch::cpu PROPERTIES
    IMPORTED_LOCATION "${LibTorch_CPU_LIBRARY}"
    INTERFACE_LINK_LIBRARIES LibTorch::c10)
endif()

if(LibTorch_FOUND AND NOT TARGET LibTorch::cuda)
  find_library(LibTorch_CUDA_LIBRARY torch_cuda HINTS "${LibTorch_LIBRARY_DIR}" NO_DEFAULT_PATH)
  find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda HINTS "${LibTorch_LIBRARY_DIR}" NO_DEFAULT_PATH)
  get_filename_component(_site_packages "${PRECBENCH_LIBTORCH}/.." ABSOLUTE)
  file(GLOB _cuda_include_dirs "${_site_packages}/nvidia/cu1*/include" "${_site_packages}/nvidia/cuda_*/include"
       "${PRECBENCH_CUDA_HEADERS}")
  find_file(LibTorch_CUDA_RUNTIME_HEADER cuda_runtime_api.h HINTS ${_cuda_include_dirs} NO_DEFAULT_PATH)
  find_file(LibTorch_CUDA_CRT_HEADER crt/host_defines.h HINTS ${_cuda_include_dirs} NO_DEFAULT_PATH)
  if(NOT LibTorch_CUDA_LIBRARY OR NOT LibTorch_C10_CUDA_LIBRARY)
    set(LibTorch_CUDA_MISSING "this LibTorch is built for CPUs only")
  elseif(NOT LibTorch_CUDA_RUNTIME_HEADER)
    set(LibTorch_CUDA_MISSING "the CUDA runtime's wheel (nvidia-cuda-runtime) is not beside torch")
  elseif(NOT LibTorch_CUDA_CRT_HEADER)
    set(LibTorch_CUDA_MISSING "crt/host_defines.h is not there: pip install nvidia-cuda-crt (CUDA 12: nvidia-cuda-nvcc-cu12)")
  else()
    set(LibTorch_CUDA_MISSING "")
    add_library(LibTorch::cuda INTERFACE IMPORTED GLOBAL)
    # Not the CUDA runtime, whose file name has its version: what a module takes from it, it finds in the one that
    # libc10_cuda loads, so that it works with every CUDA that a LibTorch release is built for.
    set_target_properties(LibTorch::cuda PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_cuda_include_dirs}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_cuda_include_dirs}"
      INTERFACE_LINK_LIBRARIES
        "LibTorch::cpu;${LibTorch_CUDA_LIBRARY};${LibTorch_C10_CUDA_LIBRARY}")
  endif()
endif()
