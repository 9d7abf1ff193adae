#!/usr/bin/env bash
# Installs what building and running Tessera needs, from the distribution's packages (Debian 12, Ubuntu 24.04 or
# later). Works as root without sudo and as a user with sudo; asks for nothing when everything is there already.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libfmt-dev libspdlog-dev libsimdjson-dev nlohmann-json3-dev libcli11-dev
  libpcre2-dev libutf8proc-dev libhwy-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  python3 python3-jinja2
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "tessera: this machine has no apt-get; install the equivalents of: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "tessera: need root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "tessera: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
