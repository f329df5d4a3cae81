#!/bin/bash
# Library calls that execute millions of instructions are not single-stepped, whether the expression
# becomes true behind them, in a function that they call back, or by the library itself; what is found
# is the first instruction all the same.  Likewise where the callback is left by longjmp, a fault has a
# handler, in static programs, and with more words than there are debug registers.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
cat >program.c <<'EOT'
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { SIZE = 1 << 17, COUNT = 4000 };
static unsigned char block[SIZE];
static int numbers[COUNT];
static char text[SIZE], *page;
static regex_t regex;
static jmp_buf out;
long behind, calls, faults, landed;
struct { char before[SIZE]; volatile unsigned long tail; } filled;
regmatch_t match[1];
long far[6];
static void on_fault(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    if ((uintptr_t)info->si_addr - (uintptr_t)page < 4096)
        faults++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
static int compare(const void *a, const void *b) {
    calls++;
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}
static int leave(const void *a, const void *b) {
    if (++calls % 1000 == 0)
        longjmp(out, 1);
    return compare(a, b);
}
__attribute__((noinline)) static void after_call(int round) {
    memset(block, round, sizeof block);
    regexec(&regex, text, 1, match, 0);
    behind++;
    far[5] = round;
}
__attribute__((noinline)) static void by_library(int round) {
    memset(&filled, round, sizeof filled);
    memcpy(far, block + 64, 3 * sizeof *far);
    page[round] = 1;
    memset(page, round, 4096);
    mprotect(page, 4096, PROT_READ);
}
__attribute__((noinline)) static void called_back(void) {
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 7919 % COUNT;
    qsort(numbers, COUNT, sizeof *numbers, compare);
    if (setjmp(out) == 0)
        qsort(numbers, COUNT, sizeof *numbers, leave);
    landed++;
}
int main(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < SIZE - 1; i++)
        text[i] = "abcd"[i & 3];
    if (regcomp(&regex, "(a|ab)(c|bcd)*a*$", REG_EXTENDED) != 0)
        return 1;
    for (int round = 1; round < 5; round++) {
        after_call(round);
        called_back();
        by_library(round);
    }
    return faults != 4 || landed != 4;
}
EOT
# finds EXPRESSION MOMENT INSTRUCTION MOST: of that text both, by so many steps.
finds() {
    ends 0 timeout 120 quipu when --format=json "$1" -- ./program
    python3 - "${@:2}" <<'EOT' || fail "$flags: '$1': not '$2' '$3' by $4 steps: $(cat output)"
import json, re, sys
found = json.loads(open('output').read()[open('output').read().index('{'):])
sys.exit(not (re.match(sys.argv[1], found['moment']) and re.match(sys.argv[2], found['instruction'])
              and found['steps'] <= int(sys.argv[3])))
EOT
}
for flags in '-O1' '-O0 -static' '-O2 -fno-pie -no-pie'; do
    # shellcheck disable=SC2086
    quipu cc --quipu=moment -g $flags program.c -o program || fail "$flags: cannot build"
    ends 0 ./program
    finds 'behind == 3' 'after_call\+' '(add|mov|inc)' 20000
    finds 'far[0]+far[1]+far[2]+far[3]+far[5] == 1' 'after_call\+' 'mov' 20000
    finds 'calls >= 100000' '(compare|leave)\+' '(add|mov|inc)' 20000
    finds 'landed == 2' 'called_back\+' '(add|mov|inc)' 20000
    finds 'faults == 2' 'on_fault\+' '(add|mov|inc)' 20000
    finds 'filled.tail > 0x202020202020000' 'by_library\+' '(rep stos|v?mov)' 20000
    finds 'match[0].rm_eo > 5' 'after_call\+' 'v?mov' 20000
    # more words than there are registers: that call alone is stepped
    finds 'far[0] && far[1]+far[2]+far[3]+far[4] >= 0 && far[5] == 1' 'by_library\+' 'v?mov' 300000
done
