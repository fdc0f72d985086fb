# shellcheck shell=bash
# Everything that has to be there before precbench runs. Each part first plans (what is missing, how large it is),
# then the whole plan is told, then it is carried out. A set-up that was interrupted goes on where it stopped.
# Needs: root, purpose, build_dir.

# Exit codes are precbench's own (docs/ARCHITECTURE.md): 2 a bad setting, 4 nothing could run.
readonly exit_usage=2 exit_nothing_ran=4

fail() {
  local code=$1
  shift
  printf 'error: %s\n' "$1" >&2
  shift
  local line
  for line in "$@"; do
    printf '       %s\n' "$line" >&2
  done
  exit "$code"
}

as_root() { [[ $(id -u) == 0 ]]; }

# shellcheck source=scripts/setup/packages.sh
source "$root/scripts/setup/packages.sh"
# shellcheck source=scripts/setup/libtorch.sh
source "$root/scripts/setup/libtorch.sh"
# shellcheck source=scripts/setup/cuda.sh
source "$root/scripts/setup/cuda.sh"
# shellcheck source=scripts/setup/data.sh
source "$root/scripts/setup/data.sh"
# shellcheck source=scripts/setup/package.sh
source "$root/scripts/setup/package.sh"

# A line of 100 Mbit/s, and about 6 s for each 100 MB unpacked; so that the time told is a guess one can check.
readonly megabytes_per_s=12

announce() {
  local megabytes=$((packages_mb + wheels_download_mb + cuda_wheel_mb + data_mb))
  local seconds=$((megabytes / megabytes_per_s + wheels_disk_mb * 6 / 100))
  echo "setting up precbench (once)"
  if ((${#missing_packages[@]})); then
    echo "  Debian packages  ${missing_packages[*]} (about $packages_mb MB)"
  fi
  if [[ -n $wheels ]]; then
    echo "  LibTorch         $wheels_told into .venv (about $wheels_download_mb MB, $wheels_disk_mb MB on disk)"
  else
    echo "  LibTorch         $libtorch_version, there already: $libtorch"
  fi
  if [[ -n $cuda_wheel ]]; then
    echo "  CUDA header      wheel $cuda_wheel into build/cuda-headers (about $cuda_wheel_mb MB)"
  fi
  if [[ -n $data_source ]]; then
    echo "  Fashion-MNIST    $data_told (about $data_mb MB)"
  fi
  echo "  build            ${build_dir#"$root/"}"
  echo "  about $megabytes MB to download, which takes $(((seconds + 59) / 60)) min at 100 Mbit/s, and the build; what is there is not touched"
}

set_up() {
  local start=$SECONDS
  mkdir -p "$root/build"
  exec 9>"$root/build/.set-up.lock"
  if ! flock -n 9; then
    echo "another set-up is at work here; waiting for it"
    flock 9
    if [[ $purpose == run ]] && build_is_current; then
      return
    fi
  fi
  plan_libtorch "$purpose"
  plan_cuda_headers
  plan_data
  plan_packages "$purpose"
  if ((${#missing_packages[@]})) || [[ -n $wheels$cuda_wheel$data_source || ! -f $build_dir/build.ninja ]]; then
    announce
  fi
  install_packages
  get_data
  install_wheels
  install_cuda_headers
  if [[ $purpose == test ]]; then
    install_package_tools  # the tests make a wheel of the build
  fi
  tell_build_time
  build_with_stamp "$libtorch"
  exec 9>&-
  echo "set up in $(((SECONDS - start) / 60)) min $(((SECONDS - start) % 60)) s"
}
