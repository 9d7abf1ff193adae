#!/usr/bin/env bash
# Prints the licenses of Tessera and of all that is in a package of it: package_copyright.sh BUILD_DIRECTORY LIBRARIES,
# where LIBRARIES is the folder of the shared libraries that come along.
set -euo pipefail
source=$(dirname "$0")/..
build=$1 libraries=$2

license() {
  printf '\n%s\n%s\n\n' "================ $1" "$(cat "$2")"
}
# The Debian packages that a file of the name $1 is of.
packages_of() {
  dpkg-query -S "$1" 2>/dev/null | cut -d: -f1 | sort -u || { echo "tessera: whose license is $1 under?" >&2; return 1; }
}

license Tessera "$source/LICENSE"
xgrammar=$(sed -n 's/^TESSERA_XGRAMMAR_SOURCE:PATH=\(.\+\)/\1/p' "$build/CMakeCache.txt")
license "xgrammar (compiled in)" "${xgrammar:-$source/build/xgrammar}/LICENSE"
packages=()
# Not Boost's headers: their license asks for no notice in binaries.
for header in CLI/CLI.hpp nlohmann/json.hpp; do
  found=$(packages_of "/usr/include/$header")
  packages+=($found)
done
for library in "$libraries"/*.so*; do
  case $library in
    */libcudart.so*) cuda=yes ;;  # of NVIDIA's installer
    *) found=$(packages_of "*/$(basename "$library")"); packages+=($found) ;;
  esac
done
for package in $(printf '%s\n' "${packages[@]}" | sort -u); do license "$package" "/usr/share/doc/$package/copyright"; done
if [ "${cuda:-}" = yes ]; then
  printf '\n%s\n%s\n' "================ CUDA Runtime" \
    "libcudart is redistributed under NVIDIA's End User License Agreement: https://docs.nvidia.com/cuda/eula/"
fi
