#!/bin/bash
# A program that dies in any way leaves all counts that were made: to the last digit up to its last
# block.
. "$(dirname "$0")/lib.bash"
make_program dies -O1 -g <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n) {
    volatile int sum = n;
    return sum % 3 ? n + 1 : n - 1;
}

__attribute__((noinline)) void die(const char *way) {
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "segv") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "trap") == 0)
        __builtin_trap();
    if (strcmp(way, "cpu") == 0)
        for (;;)
            work(1);
    if (strcmp(way, "stack") == 0)
        die(way);
}

int main(int argc, char **argv) {
    volatile int sum = 0;
    for (int i = 0; i < 12345; i++)
        sum += work(i);
    if (argc > 1)
        die(argv[1]);
    return 0;
}
END
while read -r way status; do
    rm -rf quipu.data
    (ulimit -c 0; ./dies "$way") >output 2>messages
    got=$?
    [[ $got -eq $status ]] || fail "'$way': exit status $got, not $status"
    expect_calls work 12345
    expect_calls main 1
done <<'END'
kill 137
segv 139
abort 134
_exit 3
trap 132
END
rm -rf quipu.data
(ulimit -c 0; ./dies stack) >output 2>messages
[[ $? -eq 139 ]] || fail "an overflow of the stack: exit status $?"
expect_calls work 12345
rm -rf quipu.data
(ulimit -c 0; ulimit -t 1; ./dies cpu) >output 2>messages
[[ $(calls work) -gt 12345 ]] || fail "processor time used up: no counts"

# Loops that store are unrolled, and every second or third turn counts, for its neighbours as well:
# when a turn faults, counts and memory differ by one turn at most, whichever of the copies it is.
make_program fills -O1 -g <<'C'
#include <stdlib.h>
#include <sys/mman.h>

__attribute__((noinline)) void fill(volatile char *bytes, unsigned long limit) {
    for (unsigned long i = 0; i < limit; i++)
        bytes[i] = 1;
}

__attribute__((noinline)) void fill_to(volatile char *bytes, volatile char *from, char last) {
    for (unsigned long i = 0; from[i & 63] != last; i++)
        bytes[i] = 2;
}

__attribute__((noinline)) int fill_from(volatile char *bytes, volatile char *from, char last) {
    int i = 0;
    do {
        bytes[i] = 3;
        if (from[i & 63] == last)
            return i;
        i++;
    } while (from[i & 31] != last);
    return -1;
}

int main(int argc, char **argv) {
    static volatile char from[64];
    char *pages = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int skipped = atoi(argv[1]);
    mprotect(pages + 100000 / 4096 * 4096, 4096, PROT_NONE);
    if (argc > 2)
        return argv[2][0] == 't' ? fill_to(pages + skipped, from, 3), 0
                                 : fill_from(pages + skipped, from, 3);
    fill(pages + skipped, 1 << 20);
}
C
# expect_stores VALUE SKIPPED [ARGUMENT]: counted stores of VALUE are those made, or one off
expect_stores() {
    rm -rf quipu.data
    (ulimit -c 0; ./fills "$2" ${3-}) >output 2>messages
    local stores
    stores=$(quipu report --by=instruction --format=json | grep -o "\"movb \$0x$1.*\"count\": [0-9]*")
    local off=$((${stores##* } - (100000 / 4096 * 4096 - $2)))
    [[ $off -ge -1 && $off -le 1 ]] || fail "a fault in a loop, $2 skipped: $stores, off by $off"
}
for skipped in 1 2 3 4 5 6; do
    expect_stores 1 "$skipped"
    expect_stores 2 "$skipped" to
    expect_stores 3 "$skipped" from
done
