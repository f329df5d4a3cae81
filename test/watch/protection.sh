#!/bin/bash
# Where checks are put back, and where the shadow's addresses are refused, code is changed; afterwards
# memory is protected as the file says: a segment of code that may be written still may be, and data
# between two stretches of code is data.
. "$(dirname "$0")/../bad/lib.bash"

cat >program.c <<'END'
#include <quipu.h>
#include <stdio.h>
#include <string.h>

const char text[5000] = "constant";
int data = 1;

/* Code that may be written, behind the data. */
__attribute__((noipa, section("both,\"awx\",@progbits#"))) unsigned work(unsigned n) {
    volatile unsigned parts[4] = {0};
    for (unsigned i = 0; i < n; i++)
        parts[i % 4] = parts[(i + 1) % 4] * 3 + i;
    return parts[n % 4];
}

static void print_protections(void) {
    char line[512], protection[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "/program") && sscanf(line, "%*s %7s", protection) == 1)
            printf("%s\n", protection);
    if (maps)
        fclose(maps);
}

static void count_write(const struct quipu_write *write, void *argument) {
    *(int *)argument += write->size > 0;
}

static int look(int watches) {
    int local = data, writes = 0;
    volatile char *code = (volatile char *)&work;
    if (watches && (quipu_watch_create(&local, sizeof local, count_write, &writes) < 0 ||
                    quipu_watch_create(&data, sizeof data, count_write, &writes) < 0))
        return 1;
    *(volatile int *)&local = (int)work(10);
    data++;
    print_protections();
    code[0] = code[0];
    return writes != 2 * watches;
}

int main(int argc, char **argv) {
    (void)argv;
    return look(argc > 1) + (text[0] != 'c');
}
END
for flags in -no-pie -pie '-static -fno-pie' -fuse-ld=lld; do
    gcc -O1 "-I$(dirname "$quipu")/../include" $flags program.c -o program || fail "no plain program"
    ends 0 ./program
    quipu cc --quipu=watch -O1 "-I$(dirname "$quipu")/../include" $flags program.c -o program \
        2>messages || fail "cannot build $flags: $(cat messages)"
    # a page that was changed has a mapping of its own
    uniq output >plain
    for limit in unlimited 4000000; do
        for watches in '' 1; do
            (ulimit -v $limit && ends 0 ./program $watches) || exit 1 # which was said
            uniq output >watched
            diff plain watched >differences ||
                fail "'$flags', limit $limit, '$watches': protected in another way: $(cat differences)"
        done
    done
    grep -q rwxp watched || fail "'$flags': the code that may be written is not there"
done
