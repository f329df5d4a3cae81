#!/bin/bash
# Call trees of shared objects that are closed: another one, or the same one at another address, may
# be where they were.  Each call is the function's that ran, in one thread and in several that follow
# one another, and in a merged file.
. "$(dirname "$0")/../bad/lib.bash"
cat >plugin.c <<'EOT'
#include <unistd.h>
static volatile int calls;
static __attribute__((noinline)) int INNER(void) { return calls++; }
int OUTER(void) { return INNER() + INNER(); }
EOT
cat >main.c <<'EOT'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int (*function)(void);
static void *run(void *count) {
    for (int i = 0; i < *(int *)count; i++)
        if (function() != 4 * i + 1)
            abort();
    return 0;
}
/* Loads LETTER's plugin, calls its function COUNT times in a thread of its own or here. */
static void *use(char letter, int count, int threaded) {
    char name[] = "./x.so", symbol[] = "outer_x";
    pthread_t thread;
    name[2] = symbol[6] = letter;
    void *handle = dlopen(name, RTLD_NOW);
    function = (int (*)(void))dlsym(handle, symbol);
    if (threaded) {
        pthread_create(&thread, 0, run, &count);
        pthread_join(thread, 0);
    } else {
        run(&count);
    }
    return handle;
}
/* main ROUNDS THREADED FORK */
int main(int argc, char **argv) {
    int rounds = atoi(argv[1]), threaded = atoi(argv[2]);
    for (int i = 0; argc > 3 && i < rounds; i++) {
        dlclose(use('a', 3, threaded));
        void *other = use('b', 5, threaded); /* where a was */
        dlclose(use('a', 2, threaded));      /* elsewhere */
        if (atoi(argv[3]) && fork() == 0) {
            dlclose(use('a', 7, threaded));
            exit(0);
        }
        if (atoi(argv[3]))
            wait(0);
        dlclose(other);
    }
    return 0;
}
EOT
for letter in a b; do
    quipu cc --quipu=count,calls -O1 -g -fPIC -shared -DINNER=inner_$letter -DOUTER=outer_$letter plugin.c \
        -o $letter.so || fail "cannot build $letter.so"
done
quipu cc --quipu=count,calls -O1 -g -pthread main.c -o program || fail "cannot build"

# expect WHAT DATA A B: the functions of the plugins were called so often from where they are called.
expect() {
    quipu report --by=callsite --format=csv "$2" >sites.csv || fail "$1: no report"
    python3 - "$3" "$4" <<'END' || fail "$1: see above"
import csv, sys
wanted = {('outer_a', 'run'): int(sys.argv[1]), ('outer_b', 'run'): int(sys.argv[2])}
for letter in 'ab':
    wanted[f'inner_{letter}', f'outer_{letter}'] = 2 * wanted[f'outer_{letter}', 'run']
found = {}
for row in csv.DictReader(open('sites.csv')):
    key = row['callee'], row['caller']
    if 'er_' in row['callee'] or not row['callee']:
        found[key] = found.get(key, 0) + int(row['calls'])
if found != wanted:
    sys.exit(f'{found}, and not {wanted}')
END
    quipu report --by=function --format=csv "$2" >functions.csv || fail "$1: no report"
    python3 - "$3" "$4" <<'END' || fail "$1: counts: see above"
import csv, sys
found = {row['name']: int(row['calls']) for row in csv.DictReader(open('functions.csv'))}
if (found['outer_a'], found['outer_b']) != (int(sys.argv[1]), int(sys.argv[2])):
    sys.exit(f"{found['outer_a']} {found['outer_b']}")
END
}
for rounds in 1 40; do
    for threaded in 0 1; do
        for forks in 0 1; do
            rm -rf data
            QUIPU_DATA=data ends 0 ./program $rounds $threaded $forks
            what="$rounds rounds, threads: $threaded, forks: $forks"
            expect "$what" data $((rounds * (5 + 7 * forks))) $((rounds * 5))
            quipu merge -o merged.quipu data || fail "$what: cannot merge"
            expect "$what, merged" merged.quipu $((rounds * (5 + 7 * forks))) $((rounds * 5))
        done
    done
done
