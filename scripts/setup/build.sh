# shellcheck shell=bash
# The build of one preset, and how to tell in a few milliseconds that nothing has to be done.
# Needs: root, preset. LibTorch's folder stands in the stamp's second line.

stamp=$root/build/$preset/.set-up

# What decides which LibTorch is chosen; python itself is not asked on the fast path, as it takes 20 to 100 ms.
set_up_key() {
  printf '%s|%s|%s|%s' "${PRECBENCH_LIBTORCH:-}" "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}" "$(type -P python3 || true)"
}

# The file that git touches at every commit and checkout; the version built in changes with it.
git_log() {
  local dir=$root/.git
  if [[ -f $dir ]]; then
    read -r _ dir <"$dir" || true  # a work tree: "gitdir: PATH"
  fi
  printf '%s/logs/HEAD' "$dir"
}

build_is_current() {
  local key libtorch inputs log
  [[ -f $stamp && -x $root/build/$preset/bin/precbench ]] || return 1
  { read -r key && read -r libtorch; } <"$stamp" || return 1
  [[ $key == "$(set_up_key)" && -f $libtorch/lib/libtorch_cpu.so ]] || return 1
  find_data || return 1
  inputs=("$root"/{app,lib,cmake,scripts,CMakeLists.txt,CMakePresets.json} "$libtorch/lib/libtorch_cpu.so")
  log=$(git_log)
  if [[ -f $log ]]; then
    inputs+=("$log")
  fi
  # Folders count too: a file that was deleted or renamed changes its folder.
  [[ -z $(find "${inputs[@]}" -newer "$stamp" -print -quit 2>&1) ]]
}

# The default data set, as the Debian package or this set-up puts it.
find_data() {
  local dir
  for dir in "${XDG_DATA_HOME:-$HOME/.local/share}/precbench/datasets/fashion-mnist" /usr/share/datasets/fashion-mnist; do
    if [[ -f $dir/train-images-idx3-ubyte.gz && -f $dir/train-labels-idx1-ubyte.gz &&
          -f $dir/t10k-images-idx3-ubyte.gz && -f $dir/t10k-labels-idx1-ubyte.gz ]]; then
      return 0
    fi
  done
  return 1
}

# A file that includes LibTorch takes up to about 2 GB to compile; more jobs than memory holds would swap.
build_jobs() {
  local cores memory_gb
  cores=$(nproc)
  memory_gb=$(awk '/^MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  echo $((memory_gb < 1 ? 1 : memory_gb < cores ? memory_gb : cores))
}

# configure_and_build PRESET [CMake options]
configure_and_build() {
  local name=$1
  shift
  (cd "$root" && cmake --preset "$name" "$@" && cmake --build --preset "$name" --parallel "$(build_jobs)")
}

# build_with_stamp LIBTORCH: the stamp is as old as the start of the build, so that an edit during it counts.
build_with_stamp() {
  local libtorch=$1
  mkdir -p "$root/build/$preset"
  rm -f "$stamp"
  printf '%s\n%s\n' "$(set_up_key)" "$libtorch" >"$stamp.new"
  configure_and_build "$preset" "-DPRECBENCH_LIBTORCH=$libtorch" "-DPRECBENCH_CUDA_HEADERS=$root/build/cuda-headers/nvidia/*/include" ||
    fail "$exit_nothing_ran" "the build failed; what the compiler or CMake said is above" \
      "to build from nothing:  rm -r $root/build/$preset"
  mv "$stamp.new" "$stamp"
}

# Everything free of LibTorch, with AddressSanitizer and UndefinedBehaviorSanitizer.
build_with_sanitizers() {
  configure_and_build asan "-DPRECBENCH_PYTHON=$venv/bin/python" || fail "$exit_nothing_ran" "the build with sanitizers failed"
}
