#!/bin/bash
# 'quipu when --from=PLACE': the search begins there, at the first time, so what constructors and
# other code in front of it did is not told; a moment that is found is one of the whole run.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
cat >program.cc <<'EOT'
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

struct option {
    double value;
    __attribute__((noipa)) explicit option(double value) : value(value) {
        for (volatile int i = 0; i < 1000; i = i + 1)
            steps = steps + 1;
        printf("made %d\n", (int)getpid() > 0);
    }
    __attribute__((noipa)) void set(double v) { value = v; }
    static volatile int steps;
};
volatile int option::steps;
option decay(0.5);

__attribute__((noipa)) static void fall(int rounds) {
    for (int i = 0; i < rounds; i++)
        decay.set(decay.value / 2);
}

static void *nothing(void *argument) { return argument; }
int unused(int a) { return decay.value > a; }
int main(int argc, char **) {
    pthread_t thread;
    if (argc > 1 && (pthread_create(&thread, nullptr, nothing, nullptr) || pthread_join(thread, nullptr)))
        return 1;
    decay.set(0.125);
    fall(1000);
    decay.set(8);
    fall(3000);
    option::steps = 0;
    return decay.value > 1;
}
EOT
quipu-c++ --quipu=moment -O1 -g -pthread program.cc -o program || fail "cannot build"

# finds FROM TEXT...: with each text in what is printed.
finds() {
    ends 0 quipu when --from="$1" "$expression" -- ./program
    for text in "${@:2}"; do
        grep -qE "$text" output || fail "--from=$1: no '$text': $(cat output)"
    done
}
expression='decay.value < 0.25'
ends 0 quipu when "$expression" -- ./program
grep -q 'is true from the start' output || fail "$(cat output)"
finds main 'becomes true' '^  moment +_ZN6option3setEd' '^  decay.value  0.5, then 0.125'
moment=$(awk '$1 == "moment" { print $2 }' output)
ends 0 quipu goto --print "$moment" -- ./program
grep -q '#1 .* main  program.cc:30' output || fail "$(cat output)"
finds 'fall(int)' 'is true from the start' '^  moment +_ZL4falli\+0x0@' '^  decay.value  0.125$'
finds program.cc:31 'is true from the start' '^  moment +main\+0x'
expression='decay.value == 4' # once only, and the search has intervals to divide
finds fall 'becomes true' '^  decay.value  8, then 4'
expression='option::steps == 700'
finds option::option 'becomes true' '^  option::steps  699, then 700'
expression='option::steps == 1000'
finds option::set 'is true from the start' '^  option::steps  1000$'
expression='option::steps == 0'
finds option::set 'becomes true' '^  option::steps  1000, then 0'

# A command gets the process at the begin.
expression='decay.value < 0.25'
ends 0 quipu when --from=fall --exec='readlink /proc/$QUIPU_PID/exe' "$expression" -- ./program
grep -qx "$(realpath program)" output || fail "$(cat output)"

# refused TEXT FROM ARGS...
refused() {
    refuses "$1" -- quipu when --from="$2" "$expression" -- ./program "${@:3}"
}
refused 'never came to where' unused
refused 'made a second thread before' fall more
refused "no function 'nowhere'" nowhere
refused "no source file 'nowhere.cc'" nowhere.cc:3
refused "'--from=main@3': the program has no function 'main@3'" main@3
refused "'--from='" ''
