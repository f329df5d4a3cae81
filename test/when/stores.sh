#!/bin/bash
# Which instruction has written, where several stand beside each other: a store in front of or behind
# a repeated one, stores that change their own address, vectors, pushes, and an address by a segment.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
cat >program.c <<'EOT2'
#include <pthread.h>
struct table { long count; long array[40]; } t, u;
long words[8] __attribute__((aligned(64)));
static __thread long own = 3;
long *volatile to_own = words;
static void *start(void *argument) {
    void *to = t.array;
    unsigned long n = 40;
    long x = 9;
    to_own = &own;
    __asm__ volatile("mov %1, %0" : "=m"(own) : "r"(77l)); /* by %fs */
    __asm__ volatile("movq $5, t(%%rip)\n\trep stosq\n\tnop" : "+D"(to), "+c"(n) : "a"(5l) : "memory");
    to = u.array;
    n = 40;
    __asm__ volatile("rep stosq\n\tmovq $6, u(%%rip)" : "+D"(to), "+c"(n) : "a"(5l) : "memory");
    to = u.array;
    n = 40;
    __asm__ volatile("movq $3, -8(%%rsp)\n\trep stosq\n\tnop" : "+D"(to), "+c"(n) : "a"(8l) : "memory");
    to = words;
    __asm__ volatile("stosq\n\tstosq\n\tnop" : "+D"(to) : "a"(4l) : "memory");
    __asm__ volatile("movups %%xmm0, 16+words(%%rip)\n\tnop" ::"x"(1.5) : "memory");
    __asm__ volatile("mov %%rsp, %%r12\n\tlea 56+words(%%rip), %%rsp\n\tpush $7\n\tmov %%r12, %%rsp" ::: "r12", "memory");
    to = &words[7];
    __asm__ volatile("xadd %0, (%0)\n\tnop" : "+r"(to)::"memory", "cc");
    __asm__ volatile("lock cmpxchg %1, words+32(%%rip)\n\tnop" : "+a"(n) : "r"(x) : "memory", "cc");
    return argument;
}
int main(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, start, NULL) || pthread_join(thread, NULL);
}
EOT2
quipu cc --quipu=moment -g -O1 -no-pie -fno-pie -pthread program.c -o program || fail "cannot build"
# by EXPRESSION PATTERN: an instruction of that text makes it true
by() {
    ends 0 quipu when --format=json "$1" -- ./program
    python3 - "$2" <<'EOT2' || fail "'$1': not by '$2': $(cat output)"
import json, re, sys
found = json.load(open('output'))
sys.exit(not (re.match(sys.argv[1], found['instruction']) and found['moment'].startswith('start+')
              and found['thread'] == 2 and found['in_turns']))
EOT2
}
by '*to_own == 77' 'mov.*%fs:'
by 't.count == 5' 'movq \$0x5'
by 't.array[0] == 5' 'rep stosq'
by 't.array[17] == 5' 'rep stosq'
by 't.array[39] == 5' 'rep stosq'
by 'u.array[39] == 5' 'rep stosq'
by 'u.count == 6' 'movq \$0x6'
by 'u.array[0] == 8' 'rep stosq'
by 'u.array[15] == 8' 'rep stosq'
by 'u.array[39] == 8' 'rep stosq'
by 'words[0] == 4' 'stosq'
by 'words[1] == 4' 'stosq'
by 'words[2] != 0' 'movups'
by 'words[6] == 7' 'push'
by 'words[7] != 0' 'xadd'
by 'words[4] == 9' 'lock cmpxchg'
