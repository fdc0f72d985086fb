# shellcheck shell=bash
# LibTorch: PRECBENCH_LIBTORCH, else the torch of the active Python, else wheels in .venv. The tests need .venv in
# any case: they compare with Lightning Fabric on the very same torch.

readonly torch_version=2.11.0
readonly oldest_torch=2.8 newest_torch=2.15
# Sizes of the x86_64 wheels of torch 2.11.0, October 2026.
readonly small_download_mb=545 small_disk_mb=1300 full_download_mb=2700 full_disk_mb=4900
venv=$root/.venv
venv_stamp=$venv/precbench-wheels  # the wheel set that is completely installed
libtorch=""
libtorch_version=""
wheels=""  # wheel set to install: small | full | test; empty = none
wheels_told=""
wheels_download_mb=0
wheels_disk_mb=0

# "2.11.0" or "2.8.0a0+git12": whether the first two numbers are within what the sources are built and tested with.
is_supported() {
  local low high
  [[ $1 =~ ^[0-9]+\.[0-9]+ ]] || return 1
  low=$(printf '%s\n%s\n' "$oldest_torch" "${BASH_REMATCH[0]}" | sort -V | head -1)
  high=$(printf '%s\n%s\n' "$newest_torch" "${BASH_REMATCH[0]}" | sort -V | tail -1)
  [[ $low == "$oldest_torch" && $high == "$newest_torch" ]]
}

is_libtorch() { [[ -f $1/lib/libtorch_cpu.so && -f $1/include/ATen/ATen.h ]]; }

# The version in a LibTorch's own headers (in the second file from 2.9 on).
header_version() {
  sed -n 's/^#define TORCH_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' \
    "$1"/include/torch/csrc/api/include/torch/version.h "$1"/include/torch/headeronly/version.h 2>/dev/null |
    head -3 | paste -sd.
}

# Prints "VERSION DIR" of a Python's torch without importing it (that takes seconds).
torch_of_python() {
  (cd / && "$1" -c '
import importlib.metadata, importlib.util, os
spec = importlib.util.find_spec("torch")
if spec and spec.origin:
    print(importlib.metadata.version("torch"), os.path.dirname(spec.origin))' 2>/dev/null) || true
}

has_nvidia_driver() { [[ -e /proc/driver/nvidia/version ]] || ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; }

# A Python that torch's wheels exist for and that can make a virtual environment.
venv_python() {
  local python
  for python in "$venv/bin/python" python3 /usr/bin/python3; do
    if "$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info < (3, 15))' 2>/dev/null; then
      type -P "$python"
      return 0
    fi
  done
  return 1
}
has_venv_python() { venv_python >/dev/null; }

# Sets libtorch and libtorch_version, or wheels.
plan_libtorch() {
  local found version
  if [[ $1 == test ]]; then
    plan_wheels test
    return
  fi
  if [[ -n ${PRECBENCH_LIBTORCH:-} ]]; then
    is_libtorch "$PRECBENCH_LIBTORCH" ||
      fail "$exit_usage" "PRECBENCH_LIBTORCH=$PRECBENCH_LIBTORCH has no lib/libtorch_cpu.so with its headers" \
        "give the folder of a LibTorch: one with lib/ and include/, or .../site-packages/torch"
    libtorch=$(readlink -f "$PRECBENCH_LIBTORCH")
    libtorch_version=$(header_version "$libtorch")
    is_supported "$libtorch_version" ||
      fail "$exit_usage" "PRECBENCH_LIBTORCH=$PRECBENCH_LIBTORCH is version $libtorch_version; $oldest_torch to $newest_torch are supported"
    return
  fi
  if has python3; then
    found=$(torch_of_python python3)
    version=${found%% *}
    if [[ -n $found ]] && is_supported "$version" && is_libtorch "${found#* }"; then
      libtorch=${found#* }
      libtorch_version=$version
      return
    elif [[ -n $found ]]; then
      echo "$(type -P python3) has torch $version; $oldest_torch to $newest_torch are supported, so .venv gets $torch_version"
    fi
  fi
  if has_nvidia_driver; then
    plan_wheels full
  else
    plan_wheels small
  fi
}

# plan_wheels SET. test contains full, full contains small.
plan_wheels() {
  local there=""
  if [[ -f $venv_stamp ]] && "$venv/bin/python" -c '' 2>/dev/null; then
    there=$(<"$venv_stamp")
  fi
  case "$1:$there" in
    small:"$torch_version "* | full:"$torch_version full" | full:"$torch_version test" | test:"$torch_version test")
      libtorch=$(venv_torch)
      libtorch_version=$torch_version
      if is_libtorch "$libtorch"; then
        return
      fi
      ;;
  esac
  wheels=$1
  case $1 in
    small)
      wheels_told="torch $torch_version for the CPU (no NVIDIA driver here)"
      wheels_download_mb=$small_download_mb wheels_disk_mb=$small_disk_mb
      ;;
    full)
      wheels_told="torch $torch_version with CUDA"
      wheels_download_mb=$full_download_mb wheels_disk_mb=$full_disk_mb
      ;;
    test)
      wheels_told="torch $torch_version with all it needs, lightning-fabric, numpy, jsonschema, markdown-it-py"
      wheels_download_mb=$full_download_mb wheels_disk_mb=$full_disk_mb
      ;;
  esac
}

venv_torch() {
  local dir
  for dir in "$venv"/lib/python3.*/site-packages/torch; do
    echo "$dir"
  done
}

# Installing again over a half-done installation is pip's own business and safe; the stamp is written last.
install_wheels() {
  [[ -n $wheels ]] || return 0
  local python pip
  if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(venv_python) || fail "$exit_nothing_ran" "no Python 3.10 to 3.14 with venv" "to install it:  sudo apt-get install -y python3 python3-venv"
    rm -rf "$venv"
    "$python" -m venv "$venv"
  fi
  rm -f "$venv_stamp"
  pip=("$venv/bin/python" -m pip --disable-pip-version-check install)
  if [[ ! -t 2 ]]; then
    pip+=(--quiet)
  fi
  case $wheels in
    small)
      "${pip[@]}" --no-deps "torch==$torch_version" 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cupti==13.0.*' \
        'nvidia-cuda-crt==13.0.*' ;;
    full) "${pip[@]}" "torch==$torch_version" 'nvidia-cuda-crt==13.0.*' ;;
    test) "${pip[@]}" "torch==$torch_version" 'nvidia-cuda-crt==13.0.*' 'lightning-fabric==2.6.*' numpy jsonschema markdown-it-py ;;
  esac || fail "$exit_nothing_ran" "pip could not install torch $torch_version into .venv" \
    "a LibTorch that is there already can be used instead: PRECBENCH_LIBTORCH=DIR"
  echo "$torch_version $wheels" >"$venv_stamp"
  libtorch=$(venv_torch)
  libtorch_version=$torch_version
}
