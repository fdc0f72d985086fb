# shellcheck shell=bash
# Debian packages. Tools count as there when the command is (cmake from pip, clang++ instead of g++), libraries when
# dpkg has them. Packages are installed by root alone; anyone else is given the command.

library_packages=(libboost-dev libcli11-dev libfmt-dev libpugixml-dev libspdlog-dev libssl-dev libuv1-dev
                  nlohmann-json3-dev zlib1g-dev)
test_packages=(clang-format clang-tidy libarchive-dev libgmock-dev libgtest-dev shellcheck)
missing_packages=()
packages_mb=0

has() { type -P "$1" >/dev/null; }

# 3.22 is Ubuntu 22.04's; CMakePresets.json and CMakeLists.txt ask for it.
has_cmake() {
  has cmake && [[ $(printf '3.22\n%s\n' "$(cmake --version | sed -n '1s/[^0-9]*//p')" | sort -V | head -1) == 3.22 ]]
}

has_package() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# plan_packages run|test. Sets missing_packages, packages_mb. plan_libtorch and plan_data ran before.
plan_packages() {
  has c++ || has g++ || has clang++ || missing_packages+=(g++)
  has_cmake || missing_packages+=(cmake)
  has ninja || missing_packages+=(ninja-build)
  if [[ -n $wheels ]]; then
    has_venv_python || missing_packages+=(python3 python3-venv)
  fi
  local package
  if has dpkg-query; then
    for package in "${library_packages[@]}"; do
      has_package "$package" || missing_packages+=("$package")
    done
    if [[ $1 == test ]]; then
      for package in "${test_packages[@]}"; do
        has_package "$package" || missing_packages+=("$package")
      done
    fi
  fi
  # Faster builds in another clone, charts in the HTML report, several devices: root gets them, nobody is stopped for them.
  if as_root && has apt-get; then
    has ccache || missing_packages+=(ccache)
    has_package libjs-chart.js || missing_packages+=(libjs-chart.js)
    has_package libgloo-dev || missing_packages+=(libgloo-dev)
  fi
  if as_root && [[ $data_source == package ]]; then
    missing_packages+=(dataset-fashion-mnist)
  fi
  if ((${#missing_packages[@]})); then
    packages_mb=$(download_size "${missing_packages[@]}")
  fi
}

# What apt says it would fetch, in MB. Without package lists (a fresh container) it cannot say: then what the whole
# list came to in an empty Debian 12.
download_size() {
  local uris
  if uris=$(apt-get install --no-install-recommends --print-uris -qq "$@" 2>/dev/null); then
    awk '{bytes += $3} END {print int(bytes / 1000000) + 1}' <<<"$uris"
  else
    echo 250
  fi
}

install_packages() {
  ((${#missing_packages[@]})) || return 0
  if ! as_root; then
    fail "$exit_nothing_ran" "these Debian packages are missing: ${missing_packages[*]}" \
      "to install them:  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing_packages[*]}" \
      "then run the same command again"
  fi
  has apt-get || fail "$exit_nothing_ran" "there is no apt-get here; install what these Debian packages contain: ${missing_packages[*]}"
  local apt=(apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0)
  export DEBIAN_FRONTEND=noninteractive
  dpkg --configure -a  # finishes an installation that was interrupted
  # Package lists may be absent (containers) or older than the archive: then once more with fresh ones.
  # Not every archive has Gloo: then without it.
  local package needed=()
  for package in "${missing_packages[@]}"; do
    [[ $package == libgloo-dev ]] || needed+=("$package")
  done
  "${apt[@]}" install -y --no-install-recommends "${missing_packages[@]}" 2>/dev/null ||
    { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing_packages[@]}"; } ||
    "${apt[@]}" install -y --no-install-recommends "${needed[@]}" ||
    fail "$exit_nothing_ran" "apt-get could not install: ${missing_packages[*]}"
}
