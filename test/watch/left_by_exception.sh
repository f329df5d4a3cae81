#!/bin/bash
# A call that an exception or longjmp leaves does not return, so nothing is compared behind it.  What it has
# changed is not another call's, which is not accused.
# timeout: 60
. "$(dirname "$0")/lib.bash"

cat >plain.cc <<'EOT'
#include <setjmp.h>
jmp_buf env;
void throws(unsigned *s) { *s += 9; throw 1; }
void jumps(unsigned *s) { *s += 9; longjmp(env, 1); }
int quiet(int x) { return x + 1; }
EOT
cat >program.cc <<'EOT'
#include <setjmp.h>
extern jmp_buf env;
void throws(unsigned *);
void jumps(unsigned *);
int quiet(int);
unsigned word, others;
static __attribute__((noinline)) void own() { throw 2; }
int main(int argc, char **) {
    if (argc > 1) {
        if (!setjmp(env))
            jumps(&word);
    } else {
        try {
            throws(&word);
        } catch (int) {
            others++;
        }
    }
    others += quiet(1);
    others += quiet(2);
    try {
        own(); /* leaves no call of code without checks */
    } catch (int) {
        others++;
    }
    others += quiet(3);
    return 0;
}
EOT
g++ -O1 -c plain.cc && quipu-c++ --quipu=watch -g -O1 program.cc plain.o -o program || fail "cannot build"

# expects LINE CALLEE ARGS...: the change is told once, behind a call in LINE or the left one, and is undecided.
expects() {
    local line=$1 callee=$2
    shift 2
    watches 0 --format=json -e word -- ./program "$@"
    [[ $(wc -l <hits) -eq 1 ]] || fail "$callee: hits: $(cat hits)"
    grep '"undecided":true.*"unknown_others":true' hits >found || fail "$callee is not to be known: $(cat hits)"
    watches 0 --format=json --guard word --allow own -- ./program "$@"
    [[ $(wc -l <hits) -eq 1 ]] || fail "$callee: hits of the guard: $(cat hits)"
    grep "\"violation\":false,.*\"undecided\":true,\"others\":\[[^]]*\"line\":$line,\"instruction\":\"call $callee" hits >found ||
        fail "$callee is not named, or another is accused: $(cat hits)"
}

expects 14 throws
expects 11 jumps with
