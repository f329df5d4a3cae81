#!/bin/bash
# The Dockerfile makes an image, on a Debian 12 that debootstrap has made, and what the image is for
# works in it: a program of this directory is built, run and reported.  buildah needs no daemon.
# QUIPU_RELEASES as in release.bash.
# timeout: 1200
. "$(dirname "$0")/release.bash"
[[ $(id -u) -eq 0 ]] || {
    echo "skipped: only root can make a release"
    exit 77
}
needs buildah debootstrap git unshare
release=$releases/bookworm
[[ -d $release/var/lib/apt/lists ]] || "$root/scripts/make-release" bookworm "$release" >log 2>&1 ||
    fail "bookworm cannot be made: $(tail -n 20 log)"

# build_image COMMAND...: buildah, with all that it keeps in this directory.
build_image() {
    buildah --root "$PWD/storage" --runroot "$PWD/running" "$@"
}
export BUILDAH_ISOLATION=chroot
base=$(build_image from scratch) || fail "no container"
tree=$(build_image mount "$base") || fail "no directory of the container"
tar -C "$release" --one-file-system --exclude=./srv --exclude='./proc/*' --exclude='./sys/*' \
    --exclude='./dev/*' -cf - . | tar -xpf - -C "$tree" || fail "the release cannot be copied"
build_image umount "$base" >/dev/null
build_image commit -q --rm "$base" docker.io/library/debian:12 >/dev/null || fail "no base image"
git -c safe.directory='*' clone -q "$root" clone || fail "no clone"
build_image bud --pull-never --network=host -t quipu clone >log 2>&1 </dev/null ||
    fail "no image: $(tail -n 40 log)"

cat >prog.c <<'EOT'
#include <stdio.h>
__attribute__((noinline)) int work(int n) { return n * 3; }
int main(void) { return printf("%d\n", work(14)) != 3; }
EOT
container=$(build_image from --pull-never localhost/quipu) || fail "the image is no image"
within() {
    build_image run -v "$PWD:/mnt" --workingdir /mnt "$container" "$@" 2>log || fail "'$*': $(cat log)"
}
within quipu cc -O2 -g prog.c -o prog
[[ $(within ./prog) == 42 ]] || fail "the program prints something else"
[[ $(within quipu report --function=work --format=csv) == *$'\n'work,/mnt/prog.c,2,1,* ]] ||
    fail "the report: $(within quipu report --format=csv)"
build_image rm -a >/dev/null
build_image rmi -a -f >/dev/null 2>&1
