#!/usr/bin/env bash
# Makes a container image of a .deb by deploy/Dockerfile, on a base that debootstrap makes in place of a registry's, and
# has it answer: as root, scripts/image.sh [cpu|cuda]. Needs buildah and debootstrap (MIRROR=http://deb.debian.org/debian);
# leaves an archive that `docker load` and `podman load` read. With a registry in reach docker build does the same.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-cpu}
case $kind in
  cpu) dockerfile=deploy/Dockerfile name=tessera ;;
  cuda) dockerfile=deploy/Dockerfile.cuda name=tessera-cuda ;;
  *) echo "tessera: found \"$kind\", expected cpu or cuda" >&2; exit 1 ;;
esac
[ "$(id -u)" -eq 0 ] || { echo "tessera: debootstrap needs root" >&2; exit 1; }
for tool in buildah debootstrap; do
  command -v "$tool" >/dev/null || { echo "tessera: $tool is missing: apt-get install buildah debootstrap" >&2; exit 1; }
done
compgen -G "build/packages/${name}_*.deb" >/dev/null \
  || { echo "tessera: no build/packages/${name}_*.deb; run scripts/package.sh first" >&2; exit 1; }

work=$PWD/build/image
mkdir -p "$work"
# Works without user namespaces and overlays too, as inside another container.
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }

if ! buildah inspect --type image localhost/tessera-base >/dev/null 2>&1; then
  debootstrap --variant=minbase bookworm "$work/base" "${MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log"
  container=$(buildah from scratch)
  buildah copy -q "$container" "$work/base" / >/dev/null
  buildah commit -q "$container" localhost/tessera-base >/dev/null
  buildah rm "$container" >/dev/null
  rm -rf "$work/base"
fi
# The format of docker: OCI's knows no HEALTHCHECK.
buildah build -q --format docker --from localhost/tessera-base -t "$name" -f "$dockerfile" . >/dev/null

container=$(buildah from --pull-never "localhost/$name")
answer=$(buildah run "$container" -- tessera run demo "What is 17 + 25?" --no-thinking --quiet)
buildah rm "$container" >/dev/null
echo "tessera: asked what 17 + 25 is, the image said: $answer"
[[ $answer == *42* ]]
rm -f "$work/$name.tar"
buildah push -q "localhost/$name" "docker-archive:$work/$name.tar:$name:latest"
echo "build/image/$name.tar"
