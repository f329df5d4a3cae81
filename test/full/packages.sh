#!/bin/bash
# The Debian packages: lintian is content, two builds in different directories are the same to the
# last byte; and on Debian 12 and 13 the package that is built there, since libraries have other
# versions, installs with its dependencies and works.
# QUIPU_RELEASES as in release.bash.
# timeout: 3600
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/test/needs.sh.inc"
releases=${QUIPU_RELEASES:-$PWD}
fail() {
    echo "packages.sh: $*"
    exit 1
}
needs dpkg-buildpackage dh lintian git
git -c safe.directory='*' clone -q "$root" clone || fail "no clone"
clone/scripts/make-deb one >log 2>&1 || fail "no package: $(tail -n 20 log)"
mkdir other
(cd clone && tar -cf - --exclude=.git .) | tar -xf - -C other
other/scripts/make-deb two >log 2>&1 || fail "no package without git: $(tail -n 20 log)"
for package in one/*.deb; do
    cmp "$package" "two/$(basename "$package")" || fail "two builds differ"
done
lintian --allow-root --fail-on error,warning one/*.changes >log 2>&1 || fail "lintian: $(cat log)"

[[ $(id -u) -eq 0 ]] || {
    echo "skipped: only root can make a release"
    exit 0
}
needs debootstrap unshare
for suite in bookworm trixie; do
    release=$releases/$suite
    [[ -d $release/var/lib/apt/lists ]] || "$root/scripts/make-release" "$suite" "$release" >log 2>&1 ||
        fail "$suite cannot be made: $(tail -n 20 log)"
    mkdir -p "$release/srv/packages"
    rm -rf "$release/srv/packages/quipu"
    cp -r other "$release/srv/packages/quipu"
    cat >"$release/srv/packages/program.c" <<'EOT'
#include <stdio.h>
__attribute__((noinline)) int work(int n) { return n * 3; }
int main(void) { return printf("%d\n", work(14)) != 3; }
EOT
    "$root/scripts/make-release" --in "$release" bash -ec '
        export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update
        apt-get -qq -y --no-install-recommends install build-essential debhelper libzydis-dev \
            libzycore-dev libdw-dev libelf-dev libzstd-dev zlib1g-dev libiberty-dev
        /srv/packages/quipu/scripts/make-deb /srv/packages/built
        apt-get -qq -y --no-install-recommends install /srv/packages/built/*.deb
        cd "$(mktemp -d)"
        cp /srv/packages/program.c .
        quipu cc --quipu=count,calls -O1 -g program.c -o program
        [[ $(./program) == 42 ]]
        quipu report --function=work --format=csv | grep "^work,"
        quipu gcc --quipu=watch -O1 -g program.c -o watched
        quipu export --to=html | grep -c "<script"
        man -w quipu-report || ls /usr/share/man/man1/quipu-report.1.gz
        apt-get -qq -y remove --purge quipu
        [[ ! -e /usr/bin/quipu && ! -e /usr/lib/quipu ]]' >log 2>&1 </dev/null ||
        fail "$suite: $(tail -n 20 log)"
    grep -q '^work,.*,1,' log || fail "$suite: $(tail -n 20 log)"
done
