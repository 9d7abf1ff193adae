#!/usr/bin/env bash
# Tries the packages of scripts/package.sh in fresh roots of Debian and prints a table: as root,
#   scripts/package_check.sh [DEB TARBALL [RELEASE ...]]
# By default what is in build/packages for a machine without a GPU, on bookworm and trixie. Needs debootstrap and a
# mirror (MIRROR=http://deb.debian.org/debian); the roots stay in build/package_check for the next time. What a step
# said is in the log beside them.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "tessera: roots of Debian are made and entered as root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "tessera: debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
default=(build/packages/tessera_*.deb build/packages/tessera-[0-9]*.tar.gz)
deb=$(realpath -e "${1:-${default[0]}}")
tarball=$(realpath -e "${2:-${default[1]}}")
package=$(dpkg-deb -f "$deb" Package)
releases=("${@:3}")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
mirror=${MIRROR:-http://deb.debian.org/debian}
work=$PWD/build/package_check
log=$work/log
mkdir -p "$work"
: >"$log"
failures=0

# A root of its own for each package: fresh NAME.
fresh() {
  local base=$work/$release.base
  if [ ! -e "$base.made" ]; then
    rm -rf "$base"
    debootstrap --variant=minbase "$release" "$base" "$mirror" >>"$log" 2>&1
    touch "$base.made"
  fi
  root=$work/$release.$1
  rm -rf "$root"
  cp -a "$base" "$root"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast"  # it is thrown away
}

# Runs a script in the root, in a process tree that ends with it.
inside() {
  unshare --mount --pid --fork --kill-child bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i \
    HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "$1"' "$root" "$1"
}

# step WHAT SCRIPT: a line of the table.
step() {
  local began=$SECONDS verdict=ok
  printf '== %s, %s\n' "$release" "$1" >>"$log"
  inside "$2" >>"$log" 2>&1 </dev/null || verdict=FAIL
  [ "$verdict" = ok ] || failures=$((failures + 1))
  printf '%-9s %-68s %-4s %4d s\n' "$release" "$1" "$verdict" $((SECONDS - began))
}

# Starts `$1 serve demo` and has it answer; with a second word also puts load on it, which is libcurl's part.
answers() {
  cat <<END
cat >/tmp/chat.py <<'PYTHON'
import json, socket, subprocess, sys, time, urllib.request
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{probe.getsockname()[1]}"
server = subprocess.Popen([sys.argv[1], "serve", "demo", "--port", url.rsplit(":", 1)[1]])
while True:
    if server.poll() is not None:
        sys.exit("the server did not start")
    try:
        urllib.request.urlopen(url + "/health", timeout=5)
        break
    except OSError:
        time.sleep(0.2)
body = {"model": "demo", "messages": [{"role": "user", "content": "What is 17 + 25?"}], "max_tokens": 200, "seed": 1}
request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(),
                                 {"Content-Type": "application/json"})
answer = json.load(urllib.request.urlopen(request, timeout=300))["choices"][0]["message"]["content"]
print("answer:", answer)
page = urllib.request.urlopen(url + "/", timeout=30).read()
load = 0
if len(sys.argv) > 2:
    load = subprocess.run([sys.argv[1], "bench", "serve", url, "--users", "1", "--requests", "1", "--warmup", "0",
                           "--output", "8", "--quiet"]).returncode
server.terminate()
sys.exit(0 if "42" in answer and b"<html" in page.lower() and load == 0 and server.wait(60) == 0 else 1)
PYTHON
python3 /tmp/chat.py $1 ${2:-}
END
}

# Not "! ldd | grep": bash does not end a script because of a command behind "!".
finds_libraries() {
  echo "if ldd \"$1\" | grep 'not found'; then exit 1; fi"
}

completes() {
  echo "source $1; COMP_WORDS=(tessera serve --por); COMP_CWORD=2; _tessera; [ \"\${COMPREPLY[*]}\" = --port ]"
}

check_deb() {
  fresh deb
  cp "$deb" "$root/tmp/first.deb"
  # The same once more, one version later.
  rm -rf "$work/next"
  dpkg-deb -R "$deb" "$work/next"
  sed -i 's/^Version: .*/&.1/' "$work/next/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$work/next" "$root/tmp/next.deb" >>"$log"
  # And as the package with CUDA is to the one without: another one of the same files.
  sed -i -E "s/^Package: .*/Package: tessera-other/; s/^(Conflicts|Replaces): .*/\1: $package/" "$work/next/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$work/next" "$root/tmp/other.deb" >>"$log"

  step "apt update" "apt-get update -qq"
  step "install the .deb" "apt-get install -y -qq --no-install-recommends /tmp/first.deb"
  step "its libraries are there, --version tells" "$(finds_libraries /usr/bin/tessera); tessera --version"
  step "'tessera serve demo' answers a chat request" "$(answers tessera)"
  step "a man page for each command" "zcat /usr/share/man/man1/tessera-bench-serve.1.gz | grep -F 'users'
    [ \$(ls /usr/share/man/man1/tessera* | wc -l) -gt 10 ]"
  step "bash completes" "$(completes /usr/share/bash-completion/completions/tessera)"
  step "a key was made, which root alone may read" "[ \$(stat -c %a:%U:%s /etc/tessera/api-keys) = 600:root:49 ]"
  step "upgrade keeps key, settings and tuned tiles" "
    echo my-own-key >/etc/tessera/api-keys
    echo TESSERA_MODEL=/srv/mine >/etc/tessera/serve.env
    mkdir -p /var/cache/tessera /var/lib/tessera && echo tuned >/var/cache/tessera/gpu.tuning && touch /var/lib/tessera/model
    apt-get install -y -qq /tmp/next.deb
    [[ \$(dpkg-query -W -f '\${Version}' $package) == *.1 ]]
    grep -x my-own-key /etc/tessera/api-keys
    grep -x TESSERA_MODEL=/srv/mine /etc/tessera/serve.env
    grep -x tuned /var/cache/tessera/gpu.tuning"
  step "remove takes the program and leaves what is the user's" "
    dpkg -L $package >/tmp/files
    [ -x /usr/bin/tessera ]
    apt-get remove -y -qq $package
    [ ! -e /usr/bin/tessera ] && [ ! -e /usr/share/tessera ] && [ ! -e /usr/lib/tessera ]
    grep -x my-own-key /etc/tessera/api-keys && grep -x tuned /var/cache/tessera/gpu.tuning
    grep -x TESSERA_MODEL=/srv/mine /etc/tessera/serve.env"
  step "purge takes the rest, but no models" "
    dpkg --purge $package
    grep -x /usr/bin/tessera /tmp/files
    while read -r file; do [ -d \"\$file\" ] || [ ! -e \"\$file\" ] || { echo \"left: \$file\"; exit 1; }; done </tmp/files
    [ ! -e /etc/tessera ] && [ ! -e /var/cache/tessera ] && [ -e /var/lib/tessera/model ]"
  step "the unit is right: systemd-analyze verify" "
    apt-get install -y -qq --no-install-recommends systemd /tmp/first.deb
    systemd-analyze verify --man=no tessera.service 2>&1 | tee /tmp/verify
    if grep -i tessera /tmp/verify; then exit 1; fi"
  step "the other package (CUDA for CPU) takes over key and settings" "
    echo my-own-key >/etc/tessera/api-keys
    echo TESSERA_MODEL=/srv/mine >/etc/tessera/serve.env
    apt-get install -y -qq /tmp/other.deb
    dpkg --purge $package
    tessera --version
    grep -x my-own-key /etc/tessera/api-keys && grep -x TESSERA_MODEL=/srv/mine /etc/tessera/serve.env
    dpkg --purge tessera-other
    [ ! -e /etc/tessera ]"
}

check_tarball() {
  fresh tarball
  mkdir -p "$root/home/any where"
  tar -xzf "$tarball" -C "$root/home/any where" --strip-components=1
  step "tarball: runs without any library of the distribution's" "
    tessera='/home/any where/bin/tessera'
    [ -z \"\$(ls /usr/lib/*/libcurl.so* /usr/lib/*/libfmt.so* 2>/dev/null)\" ]
    $(finds_libraries '$tessera')
    \"\$tessera\" --version && \"\$tessera\" tokenize demo Hello"
  step "tarball: says what chat needs" "
    [[ \$('/home/any where/bin/tessera' run demo Hello 2>&1) == *'apt install python3-jinja2'* ]]"
  step "tarball: with python3-jinja2 it answers, also through a link; bench serve" "
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-jinja2
    ln -s '/home/any where/bin/tessera' /usr/local/bin/tessera
    $(answers tessera load)"
}

for release in "${releases[@]}"; do
  check_deb
  check_tarball
  rm -rf "$work/$release.deb" "$work/$release.tarball" "$work/next"
done
[ "$failures" -eq 0 ] || { echo "tessera: $failures steps failed; see $log" >&2; exit 1; }
