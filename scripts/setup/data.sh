# shellcheck shell=bash
# Fashion-MNIST, the default data: from the Debian package (installed by root, unpacked into the user's data folder
# by anyone else), or from where it was published.

user_data=${XDG_DATA_HOME:-$HOME/.local/share}/precbench/datasets/fashion-mnist
data_source=""  # package | download; empty = there already
data_told=""
data_mb=0

plan_data() {
  if find_data; then
    return
  fi
  data_mb=31
  if has apt-get; then
    data_source=package
    data_told="Debian package dataset-fashion-mnist"
  else
    data_source=download
    data_told="from github.com/zalandoresearch/fashion-mnist"
  fi
  if ! as_root || [[ $data_source == download ]]; then
    data_told+=" into $user_data"
  fi
}

# Root's package is installed with the other packages.
get_data() {
  if [[ -z $data_source ]] || find_data; then
    return 0
  fi
  local work
  mkdir -p "$(dirname "$user_data")"
  work=$(mktemp -d "$user_data.XXXXXX")
  if ! { [[ $data_source == package ]] && unpack_package "$work"; } && ! download "$work"; then
    rm -rf "$work"
    fail "$exit_nothing_ran" "Fashion-MNIST could not be fetched" \
      "put its four files (python/get.py names the place) into $user_data"
  fi
  # The folder appears complete or not at all.
  rm -rf "$user_data"
  mv "$work" "$user_data"
  chmod 755 "$user_data"
}

unpack_package() {
  (cd "$1" && apt-get -qq download dataset-fashion-mnist 2>/dev/null && dpkg -x dataset-fashion-mnist_*.deb unpacked &&
    mv unpacked/usr/share/datasets/fashion-mnist/*.gz . && rm -rf unpacked dataset-fashion-mnist_*.deb)
}

download() { python3 "$root/python/get.py" fashion-mnist --to "$1"; }
