# shellcheck shell=bash
# The build, and how to tell in a few milliseconds that nothing has to be done.
# Needs: root, and purpose: run (the product) or test (with the tests, against the torch of .venv). One tree serves both,
# so that the tests compile nothing of the product again. A stamp has LibTorch's folder in its second line.

build_dir=$root/build/release
if [[ $purpose == test && -f $build_dir/.set-up-run ]]; then
  { read -r _ && read -r built_against; } <"$build_dir/.set-up-run" || built_against=""
  if [[ $built_against != "$root/.venv/"* ]]; then
    build_dir=$root/build/test  # scripts/precbench uses another LibTorch, and keeps its tree
  fi
fi
stamp=$build_dir/.set-up-$purpose

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
  [[ -f $stamp && -x $build_dir/bin/precbench ]] || return 1
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

# configure_and_build PRESET TREE TARGET [CMake options]
configure_and_build() {
  local name=$1 folder=$2 target=$3
  shift 3
  (cd "$root" && cmake --preset "$name" -B "$folder" "$@" && cmake --build "$folder" --target "$target" --parallel "$(build_jobs)")
}

# build_with_stamp LIBTORCH: the stamp is as old as the start of the build, so that an edit during it counts.
build_with_stamp() {
  local libtorch=$1 target=product options=()
  if [[ $purpose == test ]]; then
    target=all
    options=(-DBUILD_TESTING=ON -DPRECBENCH_CHECKS=ON)
    # Only where nothing was compiled yet: another flag would compile the product again.
    if [[ -n ${CI:-} && ! -f $build_dir/build.ninja ]]; then
      options+=(-DPRECBENCH_WERROR=ON)
    fi
  fi
  mkdir -p "$build_dir"
  rm -f "$stamp"
  printf '%s\n%s\n' "$(set_up_key)" "$libtorch" >"$stamp.new"
  configure_and_build release "$build_dir" "$target" "-DPRECBENCH_LIBTORCH=$libtorch" \
    "-DPRECBENCH_CUDA_HEADERS=$root/build/cuda-headers/nvidia/*/include" "${options[@]}" ||
    fail "$exit_nothing_ran" "the build failed; what the compiler or CMake said is above" \
      "to build from nothing:  rm -r $build_dir"
  mv "$stamp.new" "$stamp"
}

# What compiling everything takes (for the tests with the sanitizers' build), as a multiple of one file that includes JSON,
# on one core: three seconds tell how fast this machine is. With an empty ccache; a full one needs a fraction.
readonly product_files=90 test_files=230

# Told before the first compilation.
tell_build_time() {
  local start files=$product_files
  if [[ -f $build_dir/build.ninja ]]; then
    return
  fi
  if [[ $purpose == test ]]; then
    files=$test_files
  fi
  start=$(date +%s%N)
  if "${CXX:-c++}" -std=c++20 -O2 -I "$root/lib" -c "$root/lib/common/json_fields.cpp" -o /dev/null 2>/dev/null; then
    echo "compiling takes about $((($(date +%s%N) - start) * files / $(build_jobs) / 60000000000 + 1)) min here"
  fi
}

# Everything free of LibTorch, with AddressSanitizer and UndefinedBehaviorSanitizer.
build_with_sanitizers() {
  configure_and_build asan "$root/build/asan" all "-DPRECBENCH_PYTHON=$venv/bin/python" ${CI:+-DPRECBENCH_WERROR=ON} ||
    fail "$exit_nothing_ran" "the build with sanitizers failed"
}
