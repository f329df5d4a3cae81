#!/bin/bash
# Programs that link no C library, or begin without it: left alone, or refused with a line that says why;
# those that name it themselves are counted.
. "$(dirname "$0")/lib.bash"
cat >bare.c <<'C'
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

void _start(void) {
    call(1, 1, (long)"hello\n", 6);
    call(60, 7, 0, 0);
}
C
cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>

__attribute__((noinline)) static int half(int n) {
    return n % 2 ? n : n / 2;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += half(i);
    printf("%d\n", sum);
    return 0;
}
C

# Compiled and linked at once: left as it is.
for options in -nostdlib '-nostdlib -static' -nodefaultlibs' -nostartfiles'; do
    # shellcheck disable=SC2086
    ends 0 quipu cc -O1 $options bare.c -o bare
    said "'-nostdlib' without '-lc': code without a C library cannot be counted; left as it is"
    ends 7 ./bare
    [[ $(<output) == hello ]] || fail "'$options': $(<output)"
    rm bare
done
# Compiled so, and linked so later, as interpreters build the code that they make.
ends 0 quipu cc -O1 -fPIC -nostdlib -c bare.c
said "'-nostdlib' without '-lc': code without a C library cannot be counted; left as it is"
ends 0 quipu cc -shared -nostdlib bare.o -o bare.so
[[ ! -s messages ]] || fail "the link says: $(<messages)"
# Linked from objects that are counted: the linker's messages, and then ours.
ends 0 quipu cc -O1 -c bare.c
for options in -nostdlib -nostartfiles '-nostartfiles -static'; do
    # shellcheck disable=SC2086
    ends 1 quipu cc $options bare.o -o bare
    tail -n 1 messages >last
    mv last messages
    said 'counted code needs the C library and its start files; name them, or compile the code with --quipu=none'
done
ends 0 gcc -O1 -c bare.c
ends 0 quipu cc -nostdlib bare.o -o bare
[[ ! -s messages ]] || fail "'-nostdlib' and an object that is not counted: $(<messages)"
ends 7 ./bare

# The C library by name: the runtime stands behind it, and needs it.
start=$(gcc -print-file-name=Scrt1.o)
first="$(gcc -print-file-name=crti.o) $(gcc -print-file-name=crtbeginS.o)"
last="$(gcc -print-file-name=crtendS.o) $(gcc -print-file-name=crtn.o)"
for options in '-nodefaultlibs -lc -lgcc' '-nodefaultlibs -static -lc -lgcc -lgcc_eh -lc' \
    "-nostdlib $start $first -lc -lgcc $last" "-nostartfiles $start $first $last"; do
    rm -rf quipu.data
    # shellcheck disable=SC2086
    ends 0 quipu cc -O1 program.c $options -o program
    [[ ! -s messages ]] || fail "'$options': $(<messages)"
    ends 0 ./program
    [[ $(<output) == 3725 ]] || fail "'$options': $(<output)"
    expect_calls half 100
done
exit 0
