#!/usr/bin/env bash
# scripts/client_venv.sh in a tree of its own: an environment whose making broke off does not count as made, nor does
# one for other requirements. Asks no network: pip is given none, and nothing to install where it is to succeed.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/scripts" "$tree/tests/server/clients"
cp "$root/scripts/client_venv.sh" "$tree/scripts/"
printf '#!/bin/sh\n' >"$tree/scripts/install_packages.sh"  # the machine's packages are not this test's business
chmod +x "$tree/scripts/install_packages.sh"
requirements=$tree/tests/server/clients/requirements.txt
script=$tree/scripts/client_venv.sh
export PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null
fail() { echo "failed: $*" >&2; exit 1; }

echo "a-package-that-no-index-has==1.0" >"$requirements"
"$script" --check && fail "it counts as made before it is made"
"$script" 2>/dev/null && fail "the making succeeded without what is required"
[ -x "$tree/build/venv/bin/python" ] || fail "the making broke off too early to show anything"
"$script" --check && fail "it counts as made after its making broke off"

echo "# nothing" >"$requirements"
"$script" >/dev/null || fail "it could not be made"
"$script" --check || fail "it does not count as made"
[ -z "$("$script")" ] || fail "it is made again though it is there"

echo "# something else" >"$requirements"
"$script" --check && fail "it counts as made for other requirements"

echo "# nothing" >"$requirements"
"$script" --check || fail "it does not count as made any more"
rm "$tree/build/venv/bin/python"
"$script" --check && fail "it counts as made without its python"
exit 0
