#!/bin/bash
# Blocks of a line of a process that runs already: of its program and of a shared object, wherever they
# were loaded, whole blocks and slices.
. "$(dirname "$0")/lib.bash"
cat >library.c <<'EOT2'
#include <stdlib.h>
char *make(int n) {
    char *block = malloc((size_t)n); /* LINE library */
    block[1] = (char)n;
    return block;
}
EOT2
cat >program.c <<'EOT2'
#include <stdlib.h>
#include <unistd.h>
char *make(int);
__attribute__((noipa)) static void fill(char *block) { block[3] = 1; block[20] = 2; }
static void turn(void) {
    char *mine = malloc(50); /* LINE program */
    fill(mine);
    free(mine);
    char *other = make(30);
    fill(other);
    free(other);
}
int main(void) {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1) {
        turn();
        if (write(STDOUT_FILENO, &byte, 1) != 1)
            return 1;
    }
    return 0;
}
EOT2

# line NAME: FILE:LINE of that mark.
line() {
    grep -n "/\* LINE $1 \*/" "$1.c" | sed "s/\([0-9]*\):.*/$1.c:\1/"
}

# attach ARGS...: a program that runs is watched for three turns of it, and then left.
attach() {
    coproc ./program
    local running=$COPROC_PID watcher
    printf x >&"${COPROC[1]}"
    read -rn 1 -t 10 <&"${COPROC[0]}" || fail "it does not run"
    quipu watch --log=hits --pid "$running" "$@" 2>messages &
    watcher=$!
    await_watcher $watcher "$running" "$*"
    for _ in 1 2 3; do
        printf x >&"${COPROC[1]}"
        read -rn 1 -t 10 <&"${COPROC[0]}" || fail "it does not answer"
    done
    kill -TERM $watcher
    wait $watcher
    status=$?
    eval "exec ${COPROC[1]}>&-"
    wait "$running" || fail "'$*': the program ended with $?"
}

# blocks COUNT TEXT: so many hits, each of a block that has that in its name.
blocks() {
    [[ $(grep -cF "$2" hits) -eq $1 && $(wc -l <hits) -eq $1 ]] || fail "$flags: not $1 '$2': $(cat hits messages)"
}

for flags in -fpie '-fno-pie -no-pie' '-O2 -static-pie'; do
    read -ra words <<<"$flags"
    if [[ $flags == *-static* ]]; then
        sources=(program.c library.c)
    else
        quipu cc --quipu=watch -O1 -g -shared -fPIC library.c -o libmade.so || fail "cannot build 'libmade.so'"
        sources=(program.c -L. -lmade "-Wl,-rpath,$PWD")
    fi
    quipu cc --quipu=watch -O1 -g "${words[@]}" "${sources[@]}" -o program || fail "$flags: cannot build"
    attach --heap "$(line program)"
    blocks 6 " of $(line program)["
    attach --heap "$(line library)"
    blocks 9 " of $(line library)["
    watches 0 --heap "$(line library)" -- ./program <<<xx
    blocks 9 " of $(line library)["
    attach -e "heap:$(line program)[16..23]"
    blocks 3 " of $(line program)[20]"
    attach --guard "heap:$(line library)" --allow make
    [[ $status -eq 1 && $(grep -c VIOLATION hits) -eq 6 ]] || fail "$flags: guard: $status: $(cat hits messages)"
done
leaves_nothing
