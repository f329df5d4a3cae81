#!/bin/bash
# A C library that 'quipu libc' builds: a program's whole run is traced and counted, as the single
# steps of the same run and of its twin say; events, moments, watched memory, threads, fork and
# signals work with it; and it links as a position-independent executable.
# timeout: 2400
. "$(dirname "$0")/lib.bash"
. "$root/test/needs.sh.inc"
source=${QUIPU_MUSL_SOURCE:-}
if [[ -z $source ]]; then
    "$root/scripts/fetch-source" "$sources" musl >fetch.log 2>&1 || {
        echo "skipped: musl's source cannot be fetched; QUIPU_MUSL_SOURCE=DIRECTORY names it"
        exit 77
    }
    source=$sources/musl
fi

# library MODES: builds one into ./MODES.  Traces keep %r11 free, and the twin must have the same code.
library() {
    step quipu libc --build --quipu="$1" --source="$source" --cflags=-ffixed-r11 -o "$1"
}

# builds PROGRAM MODES SOURCE FLAGS...
builds() {
    local program=$1 modes=$2
    shift 2
    step quipu cc --quipu="$modes" --quipu-libc="$top/$modes" -O2 -g -ffixed-r11 "$@" -o "$program"
}

stepped=$QUIPU_BUILD/test/stepped
library none
library count,trace
for kind in static static-pie; do
    builds twin none -$kind "$root/test/full/libc/work.c"
    builds traced count,trace -$kind "$root/test/full/libc/work.c"
    QUIPU_DATA=none "$stepped" twin.steps ./twin >twin.out || fail "$kind: the twin ends with $?"
    QUIPU_DATA=$top/counts.$kind quipu trace -o trace -- "$stepped" steps ./traced >traced.out ||
        fail "$kind: the program ends with $?"
    cmp twin.out traced.out || fail "$kind: it prints other things"
    "$root/test/harness/libc" trace traced trace steps twin twin.steps || fail "$kind: the trace differs"
    "$root/test/harness/libc" counts traced counts.$kind twin twin.steps || fail "$kind: the counts differ"
done
