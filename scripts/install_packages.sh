#!/usr/bin/env bash
# Installs what building and running Tessera needs, from the distribution's packages (Debian 12, Ubuntu 24.04 or
# later). Works as root without sudo and as a user with sudo; asks for nothing when everything is there already.
# install_packages.sh tests: also what scripts/test.sh and the tests with real clients need.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libfmt-dev libspdlog-dev libsimdjson-dev nlohmann-json3-dev libcli11-dev
  libpcre2-dev libutf8proc-dev libhwy-dev libyaml-dev
  libssl-dev prometheus-cpp-dev libcurl4-openssl-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  python3 python3-jinja2 python3-venv
  libjs-marked node-dompurify node-prismjs libjs-katex fonts-katex libjs-chart.js
  curl
)
# Asio and Beast from 1.81 on: Debian 12's default is 1.74.
if grep -qx 'VERSION_CODENAME=bookworm' /etc/os-release; then packages+=(libboost1.81-dev); else packages+=(libboost-dev); fi
if [ "${1:-}" = tests ]; then
  packages+=(ccache python3-clang)
  # Ubuntu's package is a stub that asks for snap: there the test of the web page is skipped.
  if grep -qx 'ID=debian' /etc/os-release; then packages+=(chromium); fi
fi

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
