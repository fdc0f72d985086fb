# shellcheck shell=bash
# The one CUDA header that torch's wheels lack (crt/host_defines.h), for a torch that was there already: .venv has it
# from its own wheel set. Only where there is an NVIDIA driver; without the header precbench is built for the CPU alone.

cuda_headers=$root/build/cuda-headers
cuda_wheel=""  # to install; empty = not needed
cuda_wheel_mb=0

has_crt_header() { compgen -G "$1/nvidia/*/include/crt/host_defines.h" >/dev/null; }

# Needs libtorch, which is empty where .venv is going to have it.
plan_cuda_headers() {
  local cuda
  if [[ -z $libtorch || ! -f $libtorch/lib/libtorch_cuda.so ]] || ! has_nvidia_driver ||
    has_crt_header "${libtorch%/*}" || has_crt_header "$cuda_headers"; then
    return 0
  fi
  cuda=$(sed -n "s/^cuda.*= '\([0-9]*\.[0-9]*\)'.*/\1/p" "$libtorch/version.py")
  case $cuda in
    12.*) cuda_wheel="nvidia-cuda-nvcc-cu12==$cuda.*" cuda_wheel_mb=40 ;;
    1[3-9].*) cuda_wheel="nvidia-cuda-crt==$cuda.*" cuda_wheel_mb=1 ;;
  esac
}

install_cuda_headers() {
  local python
  [[ -n $cuda_wheel ]] || return 0
  if ! python=$(venv_python) ||
    ! "$python" -m pip --disable-pip-version-check install --quiet --no-deps --target "$cuda_headers" "$cuda_wheel"; then
    echo "warning: pip could not fetch $cuda_wheel, whose header crt/host_defines.h the CUDA module needs;"
    echo "         precbench is built for the CPU alone"
  fi
}
