#!/bin/bash
# A module may have code without checks between code that has them: objects that were built otherwise, functions
# that were left alone, and functions that the linker or the loader takes from elsewhere.  What such code
# writes is told at its call.
# timeout: 120
. "$(dirname "$0")/lib.bash"

cat >plain.c <<'EOT'
void update(unsigned *s, unsigned n) { *s += n; }
EOT
cat >first.c <<'EOT'
#include <stdio.h>
unsigned word;
int others;
void update(unsigned *s, unsigned n);
void last(void);
static void (*volatile pointer)(unsigned *, unsigned) = update;
static void (*volatile own)(void) = last;
static __attribute__((noinline)) void jump(unsigned *s) { update(s, 4); }
int main(void) {
    update(&word, 3); /* direct */
    last();
    jump(&word);
    others++;
    update(&word, 0); /* behind the jump */
    pointer(&word, 5);
    own();
    printf("%u\n", word);
    return 0;
}
EOT
cat >last.c <<'EOT'
extern int others;
void last(void) { others += 2; }
EOT

# places: what is said of each hit, in lines 'FUNCTION LINE OLD NEW'.
places() {
    python3 -c '
import json
for hit in map(json.loads, open("hits")):
    print(hit["function"].split("(")[0].split(".")[0], hit["line"], hit["old"], hit["new"])'
}

# expects PLACE...: the hits are these.
expects() {
    printf '%s\n' "$@" >expected
    places >told
    diff expected told >difference || fail "$what: hits differ: $(cat difference)"
}

gcc -O2 -c plain.c -o plain.o || fail "cannot build plain.o"
for flags in '' -ffunction-sections -fPIE '-fno-plt -fPIC'; do
    what="an object between two ($flags)"
    # shellcheck disable=SC2086
    quipu cc --quipu=watch -g -O2 $flags -c first.c && quipu cc --quipu=watch -g -O2 $flags -c last.c &&
        quipu cc --quipu=watch first.o plain.o last.o -o program || fail "$what: cannot build"
    watches 0 --format=json -e word -- ./program
    expects 'main 10 0 3' 'main 14 3 7' 'main 15 7 12'
done

# A function of the unit that is left alone, one before and one behind its caller.
cat >alone.c <<'EOT'
unsigned word;
int others;
#define LEFT_ALONE __asm__ volatile("je 0f; lock; 0: incl %0" : "+m"(others))
__attribute__((noinline)) static void before(unsigned *s, unsigned n) { LEFT_ALONE; *s += n; }
__attribute__((noinline)) static void behind(unsigned *s, unsigned n);
int main(void) {
    before(&word, 3);
    others++;
    behind(&word, 4);
    return 0;
}
__attribute__((noinline)) static void behind(unsigned *s, unsigned n) { LEFT_ALONE; *s += n; }
EOT
what='functions left alone'
QUIPU_STRICT='' quipu cc --quipu=watch -g -O1 -fno-toplevel-reorder alone.c -o alone 2>messages || fail "$what: cannot build"
grep 'left as' messages >left || fail "$what: they were not: $(cat messages)"
watches 0 --format=json -e word -- ./alone
expects 'main 7 0 3' 'main 9 3 7'

# The linker takes a weak function from the object that comes first.
cat >inline.h <<'EOT'
inline __attribute__((noinline)) void update(unsigned *s, unsigned n) { *s += n; }
EOT
cat >weak.cc <<'EOT'
#include "inline.h"
unsigned word;
int main() {
    update(&word, 3);
    return 0;
}
EOT
printf '#include "inline.h"\nvoid (*used)(unsigned *, unsigned) = update;\n' >other.cc
what='a weak function'
g++ -O2 -c other.cc && quipu-c++ --quipu=watch -g -O1 -c weak.cc || fail "$what: cannot build"
quipu-c++ --quipu=watch other.o weak.o -o weak || fail "$what: cannot link"
watches 0 --format=json -e word -- ./weak
expects 'main 4 0 3'
quipu-c++ --quipu=watch weak.o other.o -o weak || fail "$what: cannot link"
watches 0 --format=json -e word -- ./weak
expects 'update 1 0 3'

# The loader takes a shared object's function from the program.
cat >shared.c <<'EOT'
unsigned word;
void update(unsigned *s, unsigned n) { *s -= n; }
void run(void) {
    update(&word, 3);
    word++;
}
EOT
printf 'void run(void);\nint main(void) { run(); return 0; }\n' >host.c
what='a function of another module'
quipu cc --quipu=watch -g -O1 -fPIC -shared shared.c -o libshared.so &&
    gcc -O1 -rdynamic host.c plain.o -o host -L. -lshared -Wl,-rpath,"$PWD" || fail "$what: cannot build"
quipu cc --quipu=watch -g -O1 -c host.c && quipu cc --quipu=watch host.o plain.o -rdynamic -o host -L. -lshared \
    -Wl,-rpath,"$PWD" || fail "$what: cannot build"
watches 0 --format=json -e libshared.so:word -- ./host
expects 'run 4 0 3' 'run 5 3 4'

# Where main has no checks, it may have made any change before it called: nobody is accused.
cat >main.c <<'EOT'
unsigned word;
int first(void), second(void);
int main(void) {
    first();
    word = 7;
    second();
    return 0;
}
EOT
cat >calls.c <<'EOT'
int others;
void update(unsigned *, unsigned);
int first(void) { update(0, 0); return ++others; }
int second(void) { update(0, 0); return ++others; }
EOT
printf 'void update(unsigned *s, unsigned n) { if (s) *s += n; }\n' >plain.c
what='a main without checks'
gcc -O1 -g -c main.c plain.c && quipu cc --quipu=watch -g -O1 -c calls.c &&
    quipu cc --quipu=watch main.o calls.o plain.o -o mixed || fail "$what: cannot build"
watches 0 --format=json --guard word --allow first -- ./mixed
expects 'second 4 0 7'
grep '"violation":false,.*"undecided":true.*"unknown_others":true' hits >found || fail "$what: $(cat hits)"
quipu cc --quipu=watch -g -O1 -c main.c && quipu cc --quipu=watch main.o calls.o plain.o -o mixed ||
    fail "$what: cannot build"
watches 1 --format=json --guard word --allow first -- ./mixed
expects 'main 5 0 7'

# Nothing is compared behind calls in hand-written code, in inline assembly, and behind conditional jumps to
# other functions: what is written there is the calling function's.
cat >hand.S <<'EOT'
        .globl  hand, outer, jumping
        .type   hand, @function
hand:   subq    $8, %rsp
        call    update
        addq    $8, %rsp
        ret
        .size   hand, .-hand
        .type   outer, @function
outer:  jmp     hand
        .size   outer, .-outer
        .type   jumping, @function
jumping: testl  %esi, %esi
        jne     update
        ret
        .size   jumping, .-jumping
        .section .note.GNU-stack, "", @progbits
EOT
cat >hands.c <<'EOT'
unsigned word;
int others;
void hand(unsigned *, unsigned), outer(unsigned *, unsigned), jumping(unsigned *, unsigned);
void update(unsigned *, unsigned);
__attribute__((noipa)) static void inside(unsigned *s) {
    __asm__ volatile("subq $128, %%rsp; call update; addq $128, %%rsp" : "+D"(s) : "S"(6)
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory");
}
int main(void) {
    hand(&word, 3);
    outer(&word, 4);
    jumping(&word, 5);
    inside(&word);
    update(&others, 0);
    return 0;
}
EOT
what='calls without queries'
quipu cc --quipu=watch -g -O1 -w -c hands.c && quipu cc --quipu=watch -c hand.S &&
    quipu cc --quipu=watch hands.o plain.o hand.o last.o -o hands || fail "$what: cannot build"
watches 0 --format=json -e word -- ./hands
expects 'main 10 0 3' 'main 11 3 7' 'main 12 7 12' 'main 13 12 18'
