#!/bin/bash
# Stubs in the place of indirect branches and returns find values in any register, and leave them there:
# programs that are built with them do the same, in all modes.
set -uo pipefail
cat >program.c <<'C'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
    long first, second;
};

typedef long (*step)(long, long, long, long, long, long);

static __attribute__((noinline)) double scale(double a, double b) {
    return a * b + 0.5;
}

static __attribute__((noinline)) struct pair two(long n) {
    return (struct pair){n / 3, n % 3};
}

static __attribute__((noinline)) long six(long a, long b, long c, long d, long e, long f) {
    return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f;
}

static __attribute__((noinline)) long sum(long count, ...) {
    va_list list;
    long all = 0;
    va_start(list, count);
    for (long i = 0; i < count; i++)
        all += va_arg(list, int) + (i % 2 ? (long)va_arg(list, double) : 0);
    va_end(list);
    return all;
}

static step volatile chosen = six;
static long (*volatile summing)(long, ...) = sum;

static __attribute__((noinline)) long jumps(long a, long b, long c, long d, long e, long f) {
    return chosen(f, e, d, c, b, a);
}

static __attribute__((noinline)) long varies(long a, int b) {
    return summing(a, b, b + 1, 2.0, b + 2);
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) const char *name(int n) {
    switch (n) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    case 4: return "four";
    case 5: return "five";
    default: return "many";
    }
}

int main(void) {
    int numbers[50];
    long all = 0;
    for (int i = 0; i < 50; i++)
        numbers[i] = i * 37 % 50;
    qsort(numbers, 50, sizeof *numbers, compare);
    for (int i = 0; i < 50; i++) {
        struct pair pair = two(numbers[i]);
        all += jumps(i, pair.first, pair.second, 4, 5, 6) + varies(3, i) + (long)scale(i, 1.5);
        printf("%s ", name(i % 8));
    }
    printf("%ld\n", all);
    return 0;
}
C
gcc -O1 program.c -o plain || exit 1
wanted=$(./plain)
status=0

# tries MODES COMPILER OPTIONS...: what is built so prints what the plain program does.
tries() {
    local modes=$1 compiler=$2 said
    shift 2
    rm -f program
    said=$("$compiler" --quipu="$modes" "$@" program.c -o program 2>&1 && ./program)
    [[ $said == "$wanted" ]] && return
    echo "'$compiler --quipu=$modes $*': $said"
    status=1
}

for modes in count,event,moment calls watch; do
    for options in '-mindirect-branch=thunk -mfunction-return=thunk' \
        '-mindirect-branch=thunk-inline -mfunction-return=thunk-inline -fcf-protection=none'; do
        for more in -O0 -O2 '-O2 -fPIC'; do
            # shellcheck disable=SC2086
            tries $modes quipu-cc $options $more
        done
    done
    [[ -z $(command -v clang clang-14) ]] || tries $modes quipu-clang -O2 -mretpoline
done
exit $status
