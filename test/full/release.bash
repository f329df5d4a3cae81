# release.bash: what the tests of whole releases share.  The release is made from the mirror that this
# system uses; a clean clone of the last commit is demonstrated and checked in it, with its default
# compilers, and then with each other version of gcc and clang that it has.  The clone stands where all
# users may read, since some tests run as another.  QUIPU_RELEASES names a directory in which releases
# stay, and are used again as they are.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/test/needs.sh.inc"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL TESTS
releases=${QUIPU_RELEASES:-$PWD}

fail() {
    echo "$(basename "$0"): $*"
    exit 1
}

# inside COMMAND: runs it in the release, in the clone.
inside() {
    "$root/scripts/make-release" --in "$releases/$suite" bash -c "cd /srv/quipu && $1"
}

# step COMMAND: must succeed; shows the end of what it said where it does not.
step() {
    inside "$1" >"$suite.log" 2>&1 </dev/null || fail "$suite: '$1' failed: $(tail -n 60 "$suite.log")"
}

# passes COMMAND: tests in it pass; what failed is shown, and the next one is run all the same.
passes() {
    inside "$1" >"$suite.log" 2>&1 </dev/null
    echo "$suite: $1: $(grep -E '^[0-9]+ passed, [0-9]+ failed' "$suite.log" || echo 'no tests ran')"
    sed -n 's/^skipped/left out/p' "$suite.log"
    grep -qE '^[0-9]+ passed, 0 failed(, [0-9]+ skipped)?$' "$suite.log" && return
    if grep -q '^FAILED' "$suite.log"; then
        sed -n '/^FAILED/,$p' "$suite.log" | cut -c 1-400
    else
        tail -n 60 "$suite.log" | cut -c 1-400
    fi
    failed=1
}

# versions NAME LEAST: of the packages NAME-N, all N from LEAST on.
versions() {
    inside "apt-cache pkgnames '$1-'" | sed -n "s/^$1-\([0-9]*\)$/\1/p" | sort -n |
        awk -v least="$2" '$1 >= least'
}

check_release() {
    suite=$1 failed=0
    [[ $(id -u) -eq 0 ]] || {
        echo "skipped: only root can make a release"
        exit 77
    }
    needs debootstrap git unshare
    if [[ ! -d $releases/$suite/var/lib/apt/lists ]]; then
        "$root/scripts/make-release" "$suite" "$releases/$suite" >"$suite.log" 2>&1 ||
            fail "$suite cannot be made: $(tail -n 20 "$suite.log")"
    fi
    rm -rf "$releases/$suite/srv/quipu"
    git -c safe.directory='*' clone -q --no-hardlinks "$root" "$releases/$suite/srv/quipu" || fail "no clone"
    step 'apt-get -qq -y --no-install-recommends install make git'
    step 'make demo'
    passes 'make check'
    local version tests='exact calls events moments when watch'
    for version in $(versions gcc 12); do
        step "apt-get -qq -y --no-install-recommends install gcc-$version g++-$version"
        step "make -j2 B=/srv/gcc-$version CC=gcc-$version all"
        passes "test/run --gcc=$version $tests"
    done
    for version in $(versions clang 14); do
        step "apt-get -qq -y --no-install-recommends install clang-$version"
        step "make -j2 B=/srv/clang-$version CC=clang-$version all"
        passes "test/run --clang=$version ${tests#exact }"
    done
    exit $failed
}
