#!/bin/bash
# Where /proc is not mounted, quipu cc compiles, and programs count, as they do elsewhere; the command
# line alone is not known then.  What looks at other processes says that it needs /proc.
. "$(dirname "$0")/lib.bash"
[[ ! -v ASAN_OPTIONS ]] || {
    echo "skipped: AddressSanitizer itself needs /proc"
    exit 77
}
if [[ ! -v NO_PROC ]]; then
    map=()
    [[ $(id -u) -eq 0 ]] || map=(-r)
    unshare "${map[@]}" -m mount -t tmpfs none /proc 2>messages || {
        echo "skipped: no namespaces here: $(cat messages)"
        exit 77
    }
    NO_PROC=1 exec unshare "${map[@]}" -m bash -c 'mount -t tmpfs none /proc; exec bash "$0"' "$0"
fi
[[ ! -e /proc/self ]] || fail "/proc is still there"
cat >program.c <<'EOT'
int counter;
__attribute__((noipa)) void count(void) {
    counter++;
}
int main(void) {
    for (int i = 0; i < 10; i++)
        count();
    return 0;
}
EOT
for mode in count event moment calls watch; do
    ends 0 quipu cc --quipu=$mode -O1 -g program.c -o $mode
    [[ ! -s messages ]] || fail "building '$mode' said: $(cat messages)"
    QUIPU_DATA=$mode.data ends 0 ./$mode
    [[ ! -s messages ]] || fail "'$mode' said: $(cat messages)"
done
# by a relative path, by PATH, and by a link somewhere else
(cd "${quipu%/*}/.." && bin/quipu cc -c "$OLDPWD/program.c" -o "$OLDPWD/relative.o") || fail "by 'bin/quipu cc'"
ends 0 quipu-cc -c program.c -o path.o
ln -s "${quipu%/*}/quipu-cc" quipu-cc
ends 0 ./quipu-cc -c program.c -o link.o
cmp -s path.o link.o && cmp -s path.o relative.o || fail "objects differ"
expect_calls count 10 count.data
ends 0 quipu report count.data
grep -qF "$PWD/count:" output || fail "the report has not the program's path: $(cat output)"
ends 0 quipu annotate --data=count.data
grep -q '10.*counter++' output || fail "$(cat output)"
ends 0 quipu stat -- ./event
grep -q instructions output messages || fail "$(cat output messages)"
ends 0 quipu watch -e counter -- ./watch
[[ $(grep -c ' counter ' messages) -eq 10 ]] || fail "not ten hits: $(cat messages)"
grep -q 'count  program.c:3' messages || fail "hits without lines: $(cat messages)"
for command in "goto --print count@9 -- ./moment" "when counter==5 -- ./moment" "moment $$" \
    "stat --pid=$$" "watch -e counter --pid=$$"; do
    # shellcheck disable=SC2086
    refuses "'/proc' is not mounted" "mount -t proc" -- quipu $command
done
