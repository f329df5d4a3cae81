#!/bin/bash
# running.sh: all numbers of one report on a running program are of one instant: the heading's, the
# rows' and the total's, whether it is counted by thread, by process or as a whole.
. "$(dirname "$0")/lib.bash"
cat >spins.c <<'END'
#include <pthread.h>
#include <stdio.h>

static void *spin(void *argument) {
    for (volatile long i = 0;; i++)
        ;
    return argument;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, spin, NULL);
    puts("ready");
    fflush(stdout);
    return spin(NULL) != NULL;
}
END
"$quipu" cc -g -O1 -pthread spins.c -o spins
mkfifo ready
QUIPU_DATA=running ./spins >ready &
process=$!
trap 'kill -9 $process; rm -rf "$work"' EXIT
read -r _ <ready
for view in thread process function; do
    for _ in 1 2 3; do
        "$quipu" report --by=$view running >shown || fail "a running process cannot be read"
        heading=$(sed -n '1s/.*, \([0-9]*\) instructions executed$/\1/p' shown)
        total=$(awk 'END { print $1 }' shown)
        [[ $heading -gt 0 && $heading == "$total" ]] ||
            fail "by $view: $heading instructions in the heading, $total in the total"
    done
done
