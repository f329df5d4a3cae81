#!/bin/bash
# A jump to a function of the C library that writes is the instruction of the hit, in whichever modes
# the program is built.
. "$(dirname "$0")/lib.bash"
cat >main.c <<'EOT'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
char block[100];
__attribute__((noinline)) long fill(int fd, long n) { return read(fd, block, n); }
__attribute__((noinline)) char *line(FILE *file) { return fgets(block, 50, file); }
__attribute__((noinline)) int scan(const char *text) { return sscanf(text, "%s", block); }
int main(void) {
    fill(open("main.c", O_RDONLY), 100);
    line(fopen("program", "r"));
    scan("hello");
    return 0;
}
EOT
for build in watch watch,calls 'count,event,moment,calls,watch' 'watch,calls -fPIC'; do
    # shellcheck disable=SC2086
    quipu cc --quipu=$build -O2 -g main.c -o program || fail "$build: cannot build"
    QUIPU_DATA=none watches 0 -e block -- ./program
    found=$(grep -oE '(fill|line|scan)  main\.c:[0-9]+  jmp (read|fgets|[a-z0-9_]*sscanf)@plt' hits | wc -l)
    [[ $found -eq 3 ]] || fail "$build: $(cut -c 1-300 hits)"
done
