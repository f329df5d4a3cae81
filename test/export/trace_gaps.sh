#!/bin/bash
# trace_gaps.sh: where code ran that is not traced, the trace has a gap with its name; a call of traced code,
# also in another module, has none.
. "$(dirname "$0")/lib.bash"

cat >other.c <<'C'
int twice(int (*function)(int), int x) {
    return function(function(x));
}
C
cat >plain.c <<'C'
int once(int (*function)(int), int x) {
    return function(x);
}
C
cat >program.cc <<'C'
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>
#define OWN __attribute__((noinline)) static
extern "C" int twice(int (*function)(int), int x);
extern "C" int once(int (*function)(int), int x);
static jmp_buf begin;
static volatile int count;
OWN int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
OWN int next(int x) { return x + 1; }
OWN void jump(int x) { if (x) longjmp(begin, 1); }
OWN void raise_it(int x) { if (x) throw std::runtime_error("x"); }
OWN void handle(int) { count = (int)write(2, "", 0); }
OWN void *run(void *argument) { count = count + 1; return argument; }
OWN int (*choose())(const char *) { return puts; }
int main(int argc, char **) {
    static int numbers[2] = {2, 1};
    pthread_t thread;
    qsort(numbers, 2, sizeof *numbers, compare);
    count = compare(numbers, numbers + 1);
    count = twice(next, argc);
    count = once(next, argc);
    if (!setjmp(begin))
        jump(argc);
    choose()("put");
    try {
        raise_it(argc);
    } catch (std::exception &) {
        count = 0;
    }
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    if (pthread_create(&thread, nullptr, run, nullptr) || pthread_join(thread, nullptr))
        return 1;
    __asm__ volatile("syscall" : "=a"(numbers[0]) : "a"(39) : "rcx", "r11", "memory");
    exit(0);
}
C
"$quipu" cc --quipu=trace -O1 -fPIC -shared other.c -o libother.so || fail "cannot build"
gcc -O1 -c plain.c -o plain.o || fail "cannot build"
"$quipu" c++ --quipu=trace -O1 -g -pthread program.cc plain.o ./libother.so -o program || fail "cannot build"
"$quipu" trace -o t -- ./program >output || fail "cannot record"
sed 's/^/  /' >expected <<'TEXT'
qsort
qsort
_setjmp
longjmp
indirect call
__cxa_allocate_exception
_ZNSt13runtime_errorC1EPKc
__cxa_throw
__cxa_begin_catch
__cxa_end_catch
signal
write
raise
pthread_create
pthread_join
system call getpid
exit
TEXT
"$quipu" print t >t.text || fail "cannot print it"
awk '/^process/ { program = $2 == $4 } program && /^-- not traced: / { sub("^-- not traced: ", "  "); print }' t.text |
    sed '/^  once$/d' | diff expected - || fail "the gaps are others"
[[ $(grep -c -x -e '-- not traced: once' t.text) -eq 2 ]] || fail "once, which is not traced, has no two parts"
grep -q -x -e '-- not traced: caller of _ZL3runPv' t.text || fail "the thread's end has no gap"
"$quipu" print --function=_ZL4jumpi t | grep -e -- >of_jump
[[ $(cat of_jump) == "-- not traced: longjmp" ]] || fail "--function: $(cat of_jump)"
"$quipu" info t >info.text || fail "no info of it"
grep -q -x '    [0-9]* std::runtime_error::runtime_error(char const\*)' info.text || fail "info: $(cat info.text)"
"$quipu" info --format=json t | python3 -c "
import json, sys
gaps = json.load(sys.stdin)['traces'][0]['gaps']
names = {gap['callee']: gap['demangled'] for gap in gaps}
assert names['_ZNSt13runtime_errorC1EPKc'] == 'std::runtime_error::runtime_error(char const*)', names
assert names['qsort'] == 'qsort', names" || fail "info as JSON"
