# shellcheck shell=bash
# Fashion-MNIST, the default data: from the Debian package (installed by root, unpacked into the user's data folder
# by anyone else), or from where it was published.

readonly upstream=https://github.com/zalandoresearch/fashion-mnist/raw/b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion
# SHA-256 of the published files (the Debian package's own .gz files are compressed anew).
readonly upstream_sha256="\
3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84  train-images-idx3-ubyte.gz
a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845  train-labels-idx1-ubyte.gz
346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073  t10k-images-idx3-ubyte.gz
67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5  t10k-labels-idx1-ubyte.gz"
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
      "put the four files of $upstream into $user_data"
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

download() {
  (cd "$1" && for file in {train,t10k}-{images-idx3,labels-idx1}-ubyte.gz; do fetch "$file" || exit 1; done &&
    sha256sum --check --quiet <<<"$upstream_sha256")
}

fetch() {
  if has curl; then
    curl -fsSL --retry 2 -o "$1" "$upstream/$1"
  elif has wget; then
    wget -q -O "$1" "$upstream/$1"
  else
    python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' "$upstream/$1" "$1"
  fi
}
