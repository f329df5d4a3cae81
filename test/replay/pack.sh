#!/bin/bash
# Recordings with their files inside: the program, its library, the C library and the loader are gone, then
# others; the replay is the same, also in gdb, which has symbols.
# timeout: 200
. "$(dirname "$0")/lib.bash"
mkdir lib
cp "$(realpath /lib64/ld-linux-x86-64.so.2)" lib/loader.so
cp "$(realpath /lib/x86_64-linux-gnu/libc.so.6)" lib/libc.so.6
make_plain lib/libadd.so.1.2 packed.c -DLIBRARY -g -O0 -shared -fPIC -Wl,-soname,libadd.so.1
ln -s libadd.so.1.2 lib/libadd.so.1
make_plain packed packed.c -g -O0 lib/libadd.so.1.2 "-Wl,-rpath,$PWD/lib,--dynamic-linker=$PWD/lib/loader.so"
records 5 ./packed again

# What cannot be packed leaves the recording as it is.
cp run.rec before.rec
mv packed other
ends 1 quipu pack run.rec
said "'$PWD/packed' has changed since it was recorded"
cmp run.rec before.rec || fail "the recording has changed"
mv other packed
ends 1 quipu pack -o none/none run.rec
ends 1 quipu pack -o /dev/null run.rec
said "is not a file"
ends 1 quipu pack packed
said "is not a recording"
[[ -z $(ls -d .quipu-pack* 2>/dev/null) ]] || fail "something is left behind"

# A library that has changed is left out.
mv lib/libadd.so.1.2 kept
ends 0 quipu pack -o part.rec run.rec
said "'$PWD/lib/libadd.so.1.2' has changed"
mv kept lib/libadd.so.1.2

chmod 640 run.rec
ends 0 quipu pack run.rec
[[ $(stat -c %a run.rec) == 640 ]] || fail "the packed recording has other permissions"
quipu info run.rec >text || fail "cannot tell of it"
grep -q '^  packed   *[4-9] files' text || fail "not packed: $(<text)"
cp run.rec packed.rec
ends 0 quipu pack run.rec
said "packed before"
cmp run.rec packed.rec || fail "it was packed twice"

mkdir gone
mv packed lib gone
replays 5
cmp recorded.out replayed.out || fail "without files: another output"
mkdir lib
cp /bin/true packed
cp "$(command -v true)" lib/loader.so
cp gone/lib/libc.so.6 lib/libadd.so.1.2
replays 5
cmp recorded.out replayed.out || fail "with other files: another output"

# Cut within its files, or behind them.
for size in 20 100 5000 100000; do
    head -c $size packed.rec >run.rec
    ends 1 quipu replay --check run.rec
done
cp packed.rec run.rec
truncate -s -1 run.rec
ends 1 quipu replay --check run.rec

command -v gdb >/dev/null || exit 0
cat >gdb-batch <<'END'
#!/bin/bash
exec gdb -nx -batch "$@" -iex "set pagination off" -ex "break add_up" -ex continue -ex backtrace \
    -ex "watch total" -ex continue -ex reverse-continue -ex "info symbol write"
END
chmod +x gdb-batch
timeout 100 quipu replay --gdb=./gdb-batch packed.rec >output 2>&1 || fail "gdb has failed: $(<output)"
grep -q 'add_up (most=10) at .*packed.c' output || fail "no symbols of the library: $(<output)"
grep -q '#1 .* in main (argc=2' output || fail "no symbols of the program: $(<output)"
grep -q 'New value = 0' output || fail "no way back: $(<output)"
grep -q 'write.* in section .text of .*libc.so.6' output || fail "no symbols of libc: $(<output)"
