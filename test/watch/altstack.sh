#!/bin/bash
# A stack for signals that is a variable: stores to the stack are checked where a region lies there.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'END'
#include <signal.h>
#include <string.h>
static char stack[65536], other[256];
static void on_signal(int number) {
    volatile long seen;
    seen = number;
}
int main(void) {
    stack_t there = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&there, 0);
    sigaction(SIGUSR1, &action, 0);
    raise(SIGUSR1);
    memset(other, 1, sizeof other);
    return 0;
}
END
for options in '-O2' '-O0' '-O2 -fno-plt' '-O2 -static'; do
    quipu cc --quipu=watch $options -g program.c -o program || fail "cannot build with $options"
    watches 0 -e 'stack[0..65535]' -- ./program
    [[ $(grep -c 'on_signal.*program\.c:6' hits) -eq 1 ]] || fail "$options: $(head hits)"
    watches 0 -e 'other' -- ./program
    [[ -s hits ]] && ! grep -q 'on_signal' hits || fail "$options: $(head hits)"
done
leaves_nothing
