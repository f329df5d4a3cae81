#!/bin/bash
# ccache in front of quipu cc and behind it, in all its modes: what it gives back is what would be
# compiled now, with another gcc in PATH, with new data behind --quipu-profile, and with quipu rebuilt.
. "$(dirname "$0")/../needs.sh.inc"
needs ccache
. "$(dirname "$0")/../bad/lib.bash"

export CCACHE_DIR=$PWD/cache CCACHE_TEMPDIR=$PWD/cache/tmp
unset CCACHE_DISABLE
mkdir -p behind other quipu
cp -a "${quipu%/bin/*}"/{bin,lib,libexec,include} quipu/
rm -rf quipu/obj
cat >program.c <<'END'
__attribute__((noipa)) int turn(int n) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        if (i < n)
            sum += i;
        else if (i % 3)
            sum ^= i;
        else
            sum -= 3;
    return sum;
}
int main(int argc, char **argv) {
    (void)argv;
    return turn(argc > 1 ? 90 : 5) == 12345;
}
END
real=$(type -P gcc)
ln -s "$(type -P ccache)" behind/gcc
cat >other/gcc <<END
#!/bin/sh
case \$* in *--version*) echo 'gcc (another) 12.2.0'; exit ;; esac
exec $real "\$@" -fcf-protection=none -falign-functions=64
END
chmod +x other/gcc
mine=$PWD/quipu/bin plain=$PATH
PATH=$mine:$plain
quipu cc -O1 program.c -o program || fail "cannot build 'program'"
QUIPU_DATA=few ./program && QUIPU_DATA=many ./program 1 || fail "'program' failed"

# What it says of itself goes where probes do not look.
[[ $(quipu-cc -dumpversion) == "$(gcc -dumpversion)" ]] || fail "-dumpversion: $(quipu-cc -dumpversion)"
[[ $(quipu-cc --version | head -n 1) == "$(gcc --version | head -n 1)" ]] || fail "$(quipu-cc --version)"
[[ $(quipu-cc --version | tail -n 1) == "quipu "*" in front of $(readlink -f "$real"), "* ]] || fail "$(quipu-cc --version)"
[[ $(quipu-cc -E -P -x c - <<<word) == word ]] || fail "more is preprocessed: $(quipu-cc -E -P -x c - <<<word)"

# compile FORM GCC: by FORM, front or behind, with the gcc in directory GCC, 'own' or 'other'.
compile() {
    local directories=$mine command=(quipu-cc)
    [[ $1 != behind ]] || directories+=:$PWD/behind
    [[ $2 != other ]] || directories+=:$PWD/other
    [[ $1 != front ]] || command=(ccache quipu-cc)
    PATH=$directories:$plain "${command[@]}" -O1 --quipu-profile=data -MD -c program.c -o "$1.o" 2>messages ||
        fail "$1: $(cat messages)"
    [[ ! -s messages ]] || fail "$1 said: $(cat messages)"
}
# count NAME: of ccache's statistics
count() {
    ccache --print-stats | awk -v name="$1" '$1 ~ name { sum += $2 } END { print sum + 0 }'
}
# same FORM GCC WHAT: FORM's object is that of now.
same() {
    compile none "$2"
    compile "$1" "$2"
    cmp -s none.o "$1.o" || fail "$what, $3: a wrong hit"
}
# goes FORM: all that may change.
goes() {
    rm -rf cache data
    mkdir -p cache/tmp
    cp -r few data
    same "$1" own "first"
    same "$1" own "again"
    [[ $(count '^(direct|preprocessed)_cache_hit$') -eq 1 ]] || fail "$what: $(ccache --print-stats)"
    same "$1" other "another gcc"
    cmp -s none.o first.o && fail "another gcc makes the same object"
    rm -r data
    cp -r many data
    same "$1" own "another profile"
    cmp -s none.o first.o && fail "another profile makes the same object"
    rm -r data
    cp -r few data
    same "$1" own "the first profile"
    cmp -s none.o first.o || fail "the first profile makes another object"
    [[ $(count '^(direct|preprocessed)_cache_hit$') -eq 2 ]] || fail "$what: $(ccache --print-stats)"
    local misses
    misses=$(count '^cache_miss$')
    rebuild
    same "$1" own "quipu was rebuilt"
    [[ $(count '^cache_miss$') -eq $((misses + 1)) ]] || fail "$what: a hit where quipu was rebuilt"
}
# rebuild: gives quipu another build id, as another build has.
rebuild() {
    python3 - quipu/bin/quipu $((++builds)) <<'END' || fail "no build id"
import os, re, subprocess, sys
path, number = sys.argv[1:]
notes = subprocess.run(['readelf', '-n', path], stdout=subprocess.PIPE, text=True, check=True).stdout
build = bytes.fromhex(re.search(r'Build ID: (\w+)', notes)[1])
content = open(path, 'rb').read()
open(path + '.new', 'wb').write(content.replace(build, int(number).to_bytes(4, 'big') + build[4:]))
os.chmod(path + '.new', 0o755)
os.rename(path + '.new', path)
END
}
builds=0
cp -r few data
compile none own
cp none.o first.o
rm -r data
# in MODE CHECK FORM...: in a mode of ccache's, where it tells compilers apart by CHECK.
in_mode() {
    what="$1, $2"
    unset CCACHE_NODIRECT CCACHE_DEPEND
    export "CCACHE_$1=1" CCACHE_COMPILERCHECK=$2
    for form in "${@:3}"; do
        goes "$form"
    done
}
in_mode DIRECT mtime front behind
in_mode NODIRECT mtime front behind
in_mode DIRECT content front behind
in_mode DIRECT '%compiler% --version' front behind
in_mode DEPEND mtime behind
# in front, depend mode has to be told what there is beside the source
CCACHE_EXTRAFILES=$(printf '%s:' "$PWD"/few/*.quipu | sed "s|/few/|/data/|g") \
    in_mode DEPEND '%compiler% --version' front
