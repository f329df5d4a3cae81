#!/bin/bash
# Stores by pointers that lead to no memory of the program end it as they do without quipu, also where
# the shadow lies: 0xdeadbeef, addresses that were cut off at 32 bits.
set -uo pipefail
unset QUIPU_DATA

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

cat >program.c <<'C'
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int watched;

static void handler(int number, siginfo_t *info, void *context) {
    char text[100];
    (void)context;
    int length = snprintf(text, sizeof text, "%d %p\n", number, info->si_addr);
    _exit(write(1, text, (size_t)length) != length);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = handler;
    sigaction(SIGSEGV, &action, NULL);
    watched = 7;
    char *wild = (char *)(uintptr_t)strtoull(argv[1], NULL, 0);
    if (argc > 2)
        memset(wild, 1, strtoul(argv[2], NULL, 0));
    else
        *(volatile int *)wild = 1;
    printf("still there\n");
    return 0;
}
C
gcc -O1 program.c -o plain || fail "no plain program"
quipu cc --quipu=watch -g -O1 program.c -o program || fail "no program"
for words in 0xdeadbeef 0x70000000 0x80000000 0xcccccccc 0x123456789a '0xdeadbeef 100' '0xfeeefeee 5000'; do
    # shellcheck disable=SC2086
    expected=$(./plain $words)
    [[ $expected == 11* ]] || fail "plain, $words: $expected"
    # shellcheck disable=SC2086
    said=$(./program $words)
    [[ $said == "$expected" ]] || fail "$words: '$said' instead of '$expected'"
    # shellcheck disable=SC2086
    said=$(quipu watch --log=log -e watched -- ./program $words)
    [[ $said == "$expected" ]] || fail "watched, $words: '$said' instead of '$expected'"
    grep -q 'watched  0 -> 7' log || fail "watched, $words: $(cat log)"
done
