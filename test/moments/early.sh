#!/bin/bash
# In a static executable, the C library's start code calls the program's own getenv before the module
# starts. Its ticks are those of the first thread, and goto reaches the moments that when names; with
# few cells, and with more than a page of them.
# timeout: 120
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers # else a value that stands for a moment only may be missed
include=$(cd "$(dirname "$0")/../../include" && pwd)
cat >program.c <<'EOT'
#include <quipu.h>
#include <stddef.h>
#include <stdio.h>
extern char **environ;
volatile int calls, later;
__attribute__((noinline)) char *getenv(const char *name) {
    calls++;
    for (char **e = environ; e && *e; e++) {
        size_t i = 0;
        while (name[i] && (*e)[i] == name[i])
            i++;
        if (!name[i] && (*e)[i] == '=')
            return *e + i + 1;
    }
    return NULL;
}
#ifdef MANY
#define F(n) \
    int f##n(int a) { return a > n ? a * 3 : n; }
#define TEN(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8)
#endif
int main(void) {
    struct quipu_moment now = quipu_now();
    for (int i = 0; i < 1000; i++)
        later++;
    printf("%u %d\n", now.thread, calls);
    return 0;
}
EOT
# reaches PROGRAM CONDITION: goto reaches the moment that when names.
reaches() {
    ends 0 quipu when "$2" -- ./"$1"
    moment=$(grep -o '[^ ]*@[^ ]*' output) || fail "'$2': $(cat output)"
    ends 0 quipu goto --print "$moment" -- ./"$1"
    grep -qF "$moment" output || fail "'$2': '$moment' was not reached: $(cat output messages)"
}
for options in "" -static -static-pie "-static -DMANY"; do
    # shellcheck disable=SC2086
    quipu cc --quipu=count,moment -g -O1 -I "$include" $options program.c -o program || fail "cannot build"
    ends 0 ./program
    read -r thread calls <output
    [[ $thread == 1 ]] || fail "'$options': main runs in thread $thread"
    [[ $options != -static* || $calls -gt 1 ]] || fail "'$options': nothing ran early"
    for number in 1 500 1000; do
        reaches program "later == $number"
    done
done

# A constructor of a shared object calls into an ordinary executable.
cat >library.c <<'EOT'
int work(int n);
int used; /* else the linker leaves the library out */
__attribute__((constructor)) static void begin(void) { work(90); }
EOT
cat >caller.c <<'EOT'
volatile int sum;
extern int used;
__attribute__((noinline)) int work(int n) {
    for (int i = 0; i < n; i++)
        sum += i & 1;
    return sum;
}
int main(void) {
    work(70);
    return work(50) + used != 105;
}
EOT
gcc -shared -fPIC library.c -o library.so || fail "cannot build"
quipu cc --quipu=count,moment -g -O1 caller.c ./library.so -o caller || fail "cannot build"
for number in 46 80 104; do
    reaches caller "sum == $number"
done
