#!/bin/bash
# Where the countdown's tests were put in, memory is protected as the file says, data between two
# stretches of code too.  Without a byte of <quipu.h>, nothing is put in, and quipu_after says so.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'END'
#include <stdio.h>
#include <string.h>
#ifdef OLDER /* a header that knew of no byte */
#include <stdint.h>
int quipu_runtime_after(uint64_t, void (*)(const void *, void *), void *);
#define quipu_after quipu_runtime_after
#define MOMENT void
#else
#include <quipu.h>
#define MOMENT struct quipu_moment
#endif

const char text[5000] = "constant";
int data = 1;
static int fired;

/* Code that may be written, behind the data. */
__attribute__((noipa, section("both,\"awx\",@progbits#"))) unsigned work(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 3 + i;
    return sum;
}

static void fire(const MOMENT *moment, void *argument) {
    fired += moment && !argument;
}

int main(void) {
    char line[512], protection[8];
    int error = quipu_after(100, fire, 0);
    work(1000);
    data++;
    printf("%d %d %d %s", error, fired, data, text);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "/program") && sscanf(line, "%*s %7s", protection) == 1)
            printf(" %s", protection);
    puts("");
    return 0;
}
END

# runs_as RESULT FILE FLAGS...: FILE gets how its mappings are protected, in each way of linking.
runs_as() {
    local flags
    : >"$2"
    for flags in -no-pie -pie '-static -fno-pie' -fuse-ld=lld; do
        quipu cc --quipu=moment -O2 "-I$(dirname "$quipu")/../include" $flags "${@:3}" program.c \
            -o program 2>messages || fail "cannot build $flags: $(cat messages)"
        ends 0 ./program
        grep -q "^$1 2 constant " output || fail "'$flags': expected '$1', but got: $(cat output)"
        cut -d ' ' -f 5- output | tr ' ' '\n' | uniq >>"$2" # a changed page has a mapping of its own
    done
}
runs_as '-95 0' without -DOLDER
runs_as '0 1' with
diff without with >differences || fail "protected in another way: $(cat differences)"
grep -q 'rwxp' with || fail "the code that may be written is not there: $(cat with)"
