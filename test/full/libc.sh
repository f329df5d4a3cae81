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

stepped=$QUIPU_BUILD/test/stepped harness=$root/test/harness/libc
work=$root/test/full/libc/work.c
library none
library count,trace

# One thread, beside the single steps of its twin.
builds twin none "$work"
builds traced count,trace "$work"
QUIPU_DATA=none "$stepped" twin.steps ./twin >twin.out || fail "the twin ends with $?"
QUIPU_DATA=$top/counts quipu trace -o trace -- "$stepped" steps ./traced >traced.out ||
    fail "the program ends with $?"
cmp twin.out traced.out || fail "it prints other things"
"$harness" trace traced trace steps twin twin.steps || fail "the trace differs"
"$harness" counts traced counts twin twin.steps || fail "the counts differ"

# A position-independent executable prints the same.
builds pie count,trace -static-pie "$work"
quipu trace -o pie.trace -- ./pie >pie.out || fail "the position-independent executable ends with $?"
cmp twin.out pie.out || fail "the position-independent executable prints other things"

# Threads, a forked child, and a program that is started: nothing is missing, all gaps are known.
builds processes count,trace "$root/test/full/libc/processes.c"
QUIPU_DATA=$top/processes.data quipu trace -o processes.trace -- ./processes >processes.out ||
    fail "the program with threads ends with $?"
grep -q 'sum 1998000 0' processes.out || fail "it prints: $(cat processes.out)"
quipu info processes.trace >info || fail "no 'quipu info'"
grep -qE 'missing +nothing' info && grep -qE 'threads +7' info || fail "the trace: $(cat info)"
gaps=$(sed -n 's/^-- not traced: //p' <(quipu print processes.trace) | grep -v '^caller of ' | sort -u)
others=$(grep -v '^system call ' <<<"$gaps" | tr '\n' ' ')
[[ $others == '_fini indirect call quipu_musl_fork system call ' ]] || fail "gaps: $gaps"
calls=$(sed -n 's/^system call //p' <<<"$gaps" | tr '\n' ' ')
[[ $calls == "56 close execve exit exit_group fcntl futex gettid ioctl mmap mprotect munmap pipe2 read \
rt_sigprocmask wait4 writev " ]] || fail "system calls: $calls"
