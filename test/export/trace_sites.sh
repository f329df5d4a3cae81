#!/bin/bash
# trace_sites.sh: a program that is built with moments and traces has the code of its records out of line. Without
# a recording its text is that of the file. In a recording it records the same as any other, with a shared object
# that it loads, and its moments stay what they are.
# timeout: 300
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
extern char __executable_start, etext;
int main(int argc, char **argv);
int balance = 3;
static char *volatile last;
__attribute__((noinline)) static char *make(unsigned size) { return malloc(size); }
__attribute__((noinline)) static unsigned mix(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        last = make(i + 1);
        x = x & 4 ? x * 3 + 1 : x / 2;
    }
    return x;
}
/* The records of some jumps are at the jumps themselves. */
__attribute__((noinline)) static unsigned choose(unsigned x) {
    for (unsigned n = 0; n < 20; n++) {
        if (x % 7 == 3)
            break;
        x = x * 5 + n;
        if (x % 11 == 5)
            break;
        if (x & 64)
            continue;
        x += n;
    }
    return x;
}
/* Bytes of the text in memory that are not those of the file. */
static unsigned long changed(void) {
    struct stat status;
    int file = open("/proc/self/exe", O_RDONLY);
    fstat(file, &status);
    const char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    unsigned long count = 0;
    for (const char *at = (const char *)main; at < &etext; at++)
        count += *at != bytes[at - &__executable_start];
    return count;
}
int main(int argc, char **argv) {
    void *library = dlopen("./plugin.so", RTLD_NOW);
    unsigned (*turn)(unsigned) = library ? (unsigned (*)(unsigned))dlsym(library, "turn") : NULL;
    if (!turn)
        return 1;
    unsigned x = mix(7, 100);
    for (unsigned i = 0; i < 50; i++) {
        x = choose(turn(x));
        balance = (int)(x % 7) - 2 * (i > 30);
    }
    if (argc > 1)
        fprintf(stderr, "%s %lu\n", argv[1], changed());
    return printf("%u\n", x) < 0;
}
C
cat >plugin.c <<'C'
unsigned turn(unsigned x) {
    for (unsigned i = 0; i < 9; i++)
        x = x * 1103515245 + (x & 1 << 20 ? i : 12345);
    return x;
}
C
for mode in moment,trace moment trace; do
    mkdir $mode
    (
        cd $mode
        "$quipu" cc --quipu=$mode -O1 -g -fPIC -shared ../plugin.c -o plugin.so &&
            "$quipu" cc --quipu=$mode -O2 -g -ffixed-r11 ../program.c -o program -ldl
    ) || fail "$mode: cannot build"
done
cd moment,trace || fail "its directory is not there"

env -u QUIPU_TRACE ./program changed >out 2>err || fail "not in a recording: $(cat err)"
[ "$(cat err)" = "changed 0" ] || fail "its text is changed without a recording: $(cat err)"
"$quipu" trace -o own.trace -- ./program changed >out 2>err || fail "in a recording: $(cat err)"
[ "$(cut -d' ' -f1 err)" = changed ] && [ "$(cut -d' ' -f2 err)" -gt 50 ] || fail "its text is not changed: $(cat err)"

# The same instructions and references as in a build for traces alone, also of the shared object.
"$quipu" trace -o own.trace -- ./program >out || fail "cannot record"
(cd ../trace && "$quipu" trace -o own.trace -- ./program >out) || fail "cannot record the other build"
cmp -s out ../trace/out || fail "it prints something else: $(cat out)"
for build in . ../trace; do
    (cd $build && "$quipu" print --format=csv own.trace) | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["access"] !~ /^gap/ && $column["reference"] <= 1 {
            print $column["function"], $column["offset"], $column["access"]
        }' >$build/rows
done
[ "$(grep -c '^turn 0 ' rows)" = 50 ] || fail "the shared object is not in the trace"
grep '^make ' rows >/dev/null || fail "'make' is not in the trace"
cmp -s rows ../trace/rows || fail "other instructions than in the other build: $(diff rows ../trace/rows | head)"

# Moments are those of a build without traces, also while it is recorded.
ticks() {
    grep -o '^  moment .*' "$1" | grep -o '@[0-9]*/[0-9]*'
}
(cd ../moment && "$quipu" when 'balance < 0' -- ./program >when 2>&1) || fail "when: $(cat ../moment/when)"
"$quipu" when 'balance < 0' -- ./program >when 2>&1 || fail "when: $(cat when)"
[ "$(ticks when)" = "$(ticks ../moment/when)" ] || fail "another moment: $(cat when ../moment/when)"
moment=$(awk '$1 == "moment" { print $2 }' when)
"$quipu" goto --print "$moment" -- ./program >goto 2>&1 || fail "goto: $(cat goto)"
"$quipu" trace -o goto.trace -- "$quipu" goto --print "$moment" -- ./program >recorded 2>&1 || fail "goto: $(cat recorded)"
for output in goto recorded; do
    grep -F "$moment" $output >/dev/null || fail "$output: not at '$moment': $(cat $output)"
done

# Who asks for watched memory is told that there is none.
! "$quipu" watch -e balance -- ./program >watch 2>&1 || fail "it is taken for a build with watched memory"
grep -- '--quipu=watch' watch >/dev/null || fail "$(cat watch)"
