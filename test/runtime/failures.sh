#!/bin/sh
# failures.sh: where no file can be made or grown the program runs on, with one warning.
. "$(dirname "$0")/common.sh.inc"
link exe program -DOPENS "$here/program.c"
link shared liblibrary.so "$here/library.c"
user="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 755 "$work"

# quiet STATUS COMMAND...: ends with STATUS; standard error goes to the file errors.
quiet() {
    wanted=$1
    shift
    "$@" 2>errors >output
    status=$?
    test $status = "$wanted" || fail "'$*' ended with $status, not $wanted: $(cat errors)"
}

mkdir locked
if test "$(id -u)" = 0; then
    quiet 0 $user env QUIPU_DATA="$work/locked" ./program once
    warned "cannot write '$work/locked': Permission denied; the counts of this run are lost"
    quiet 0 $user ./program living-threads
    warned "cannot write '$work/quipu.data': Permission denied"
    quiet 0 $user ./program open-elsewhere "$work/liblibrary.so"
    warned "cannot write '$work/quipu.data': Permission denied"
fi
quiet 0 env QUIPU_DATA="$work/no/such/place" ./program fork
warned "cannot write '$work/no/such/place': No such file or directory"
: >file
quiet 0 env QUIPU_DATA="$work/file" ./program once
warned "Not a directory"
(ulimit -f 0 && exec ./program once 2>&1 >/dev/null) | cat >pipe
grep -q "File too large" pipe || fail "ulimit -f 0: $(cat pipe)"
test -z "$(ls -A quipu.data)" || fail "a file was left behind: $(ls -A quipu.data)"
rm -rf quipu.data
# Closed standard descriptors stay closed, and hear nothing.
rm -rf quipu.data
./program clean 0 <&- >&- 2>&- || fail "closed descriptors: status $?"
expect program "cells 2 1 0 0 1" quipu.data "closed descriptors"
QUIPU_DATA=/no/such/place ./program clean 0 <&- 2>errors || fail "closed standard input, no file"
{
    while test ! -e closed; do sleep 0.01; done
    QUIPU_DATA=/no/such/place ./program once 2>&1 >/dev/null
    echo $? >status
} | {
    exec <&-
    : >closed
}
test "$(cat status)" = 0 || fail "a pipe that no one reads: status $(cat status)"

# Slots run out: the first ones count on.
rm -rf quipu.data
quiet 0 ./program limited size
test "$(cat output)" = "done" || fail "a program without slots did not run to its end"
warned "cannot extend '$work/quipu.data/program.*File too large; the counts of some threads are lost"
test "$(./show quipu.data/*.quipu | grep -c 'flags=2')" = 1 || fail "the loss is not in the file"

# A child that gets no file leaves its parent's alone.
for what in memory descriptors; do
    rm -rf quipu.data
    quiet 0 ./program limited $what
    warned "cannot write '$work/quipu.data': .*; the counts of a forked process are lost"
    test "$(cat output)" = "done" || fail "$what: the program did not run to its end"
    expect program "cells 2 1 5 0 0" quipu.data "$what"
done
rm -rf quipu.data
quiet 0 ./program open-elsewhere "$work/liblibrary.so" descriptors
warned "Too many open files; the counts of a forked process are lost"
expect program "cells 2 1 0 0 0" quipu.data "a child with two modules and no file"
expect liblibrary.so "cells 1 2" quipu.data "a child with two modules and no file"

if test "$(id -u)" = 0; then
    rm -rf quipu.data
    quiet 0 ./program limited root "$work/locked"
    sed -n 1p errors >first && sed -n '2,$p' errors >rest && mv first errors
    warned "No such file or directory"
    mkdir disk
    trap 'umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
    mount -t tmpfs -o size=24k none disk 2>/dev/null && {
        quiet 0 env QUIPU_DATA="$work/disk" ./program living-threads
        warned "cannot extend '$work/disk/.*No space left on device"
        rm -f disk/*
        dd if=/dev/zero of=disk/full bs=4k 2>/dev/null
        quiet 0 env QUIPU_DATA="$work/disk" ./program fork
        warned "cannot write '$work/disk': No space left on device"
        mount -o remount,ro disk
        quiet 0 env QUIPU_DATA="$work/disk" ./program once
        warned "cannot write '$work/disk': Read-only file system"
    }
fi
exit 0
