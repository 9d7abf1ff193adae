#!/usr/bin/env bash
# Makes a .deb and a tarball of each preset in build/packages: scripts/package.sh [PRESET ...]. Without one: release,
# and with nvcc on the PATH cuda too. docs/packaging.md says what is in them, scripts/package_check.sh tries them.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
if [ ${#presets[@]} -eq 0 ]; then
  presets=(release)
  if command -v nvcc >/dev/null; then presets+=(cuda); fi
fi
command -v dpkg-shlibdeps >/dev/null || { echo "tessera: dpkg-shlibdeps is missing: apt-get install dpkg-dev" >&2; exit 1; }
packages=$PWD/build/packages

# What a package must have to be worth sending anywhere: check DEB TARBALL.
check() {
  local root
  root=$(mktemp -d)
  mkdir "$root/deb" "$root/tar"
  dpkg-deb -x "$1" "$root/deb"
  tar -xzf "$2" -C "$root/tar" --strip-components=1
  local program
  for program in "$root/deb/usr/bin/tessera" "$root/tar/bin/tessera"; do
    # Kernels are named from the symbols of the program itself.
    [[ $(nm -C "$program" 2>/dev/null) == *tessera::cli::run_command_line* ]] \
      || { echo "tessera: $program has no symbols: 'tessera plan' could not name kernels" >&2; return 1; }
    # Without CUDA there is no plan to look at.
    [[ $("$program" plan --preset 35b --gpu h200 2>/dev/null) != *" ? "* ]] \
      || { echo "tessera: $program cannot name kernels" >&2; return 1; }
    "$program" --version >/dev/null || return 1
    "$program" tokenize demo Hello >/dev/null || return 1  # finds its model
  done
  # The tarball brings all libraries that are not the C and C++ compilers' own.
  ldd "$root/tar/bin/tessera" | awk -v own="$root/tar/" '
    /=>/ && index($3, own) != 1 && $1 !~ /^lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s)\.so/ {
      print "tessera: the tarball lacks " $1; missing = 1
    }
    END { exit missing }' >&2 || return 1
  rm -r "$root"
}

for preset in "${presets[@]}"; do
  scripts/build.sh "$preset" tessera tessera_manual
  rm -rf "build/$preset/packages"
  cpack --config "build/$preset/CPackConfig.cmake" -G 'DEB;TGZ' -B "build/$preset/packages" >"build/$preset/cpack.log" 2>&1 \
    || { cat "build/$preset/cpack.log" >&2; exit 1; }
  made=("build/$preset/packages"/*.deb "build/$preset/packages"/*.tar.gz)
  check "${made[@]}"
  mkdir -p "$packages"
  for file in "${made[@]}"; do
    mv "$file" "$packages/"
    echo "build/packages/$(basename "$file")"
  done
done
