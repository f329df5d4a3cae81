#!/bin/bash
# A violation is told with its calls, whatever else is asked for; writers that are allowed are told
# of once and cost little from then on; and no other code is taken for one of them: not a child's,
# not that of a program behind exec at the same address, not that of a shared object that comes to
# lie where another was.
. "$(dirname "$0")/lib.bash"
build() { quipu cc --quipu=watch -g -Wall -Wextra -Werror "$@" || fail "cannot build: $*"; }

cat >books.c <<'END_OF_SOURCE'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long books[4];
char names[1000];
static volatile int depth;
__attribute__((noinline)) void honest(long times) {
    for (long i = 0; i < times; i++)
        __atomic_fetch_add(&books[i & 3], 1, __ATOMIC_RELAXED); /* by two threads at once */
}
__attribute__((noinline)) void rename_all(int to) {
    memset(names, to, sizeof names);
}
static __attribute__((noinline)) void thief(void) {
    books[2] = 77;
    depth--;
}
static __attribute__((noinline)) void accomplice(void) {
    thief();
    depth--;
}
static void *work(void *argument) {
    for (int i = 0; i < 1000; i++)
        honest(4);
    return argument;
}
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t threads[2];
    if (!strcmp(what, "time")) {
        double begin = now();
        honest(1000000);
        printf("%.0f\n", (now() - begin) / 1e6);
    } else if (!strcmp(what, "threads")) {
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        accomplice();
    } else if (!strcmp(what, "fork")) {
        honest(4);
        if (fork() == 0) {
            honest(4);
            accomplice();
            return 0;
        }
        wait(NULL);
        honest(4);
        accomplice();
    } else if (!strcmp(what, "forks")) {
        for (int i = 0; i < 100; i++) {
            if (fork() == 0) {
                accomplice();
                return 0;
            }
            wait(NULL);
        }
    } else if (!strcmp(what, "calls")) {
        for (int i = 1; i < 5; i++)
            rename_all(i);
        qsort(names, 2, 1, (int (*)(const void *, const void *))strcmp); /* changes nothing */
    } else {
        honest(4);
        accomplice();
    }
    return 0;
}
END_OF_SOURCE
build -O1 -pthread books.c -o books
has_calls() { # VIOLATIONS
    [[ $(grep -c VIOLATION hits) -eq $1 ]] || fail "not $1 violations: $(cat hits)"
    for line in '#0 .* thief  books\.c:' '#1 .* accomplice  books\.c:' '#2 .* main  books\.c:'; do
        [[ $(grep -c "$line" hits) -eq $1 ]] || fail "no '$line': $(cat hits)"
    done
}
guard=(--guard books --allow honest)
watches 1 "${guard[@]}" -- ./books
has_calls 1
tells 'books[2] 1 -> 77'
watches 1 --format=json "${guard[@]}" -- ./books
python3 - <<'END_OF_CHECK' || fail "JSON: $(cat hits)"
import json
hit, = map(json.loads, open('hits'))
assert [line.split()[2] for line in hit['backtrace'][:3]] == ['thief', 'accomplice', 'main']
END_OF_CHECK
watches 1 --summary "${guard[@]}" -- ./books
! grep -q honest hits && grep -qE '^ *1 +1 +thief' hits || fail "summary: $(cat hits)"
watches 1 --if 'new > 10' "${guard[@]}" -- ./books
has_calls 1
watches 1 "${guard[@]}" -- ./books threads
tells 'books[2] 2000 -> 77'

# A million writes: an answer for each would take ten seconds.
watches 0 "${guard[@]}" -- ./books time
tells
[[ $(<output) -lt 2000 ]] || fail "an allowed write takes $(<output) ns"

watches 1 "${guard[@]}" -- ./books fork
has_calls 2
tells 'books[2] 2 -> 77' 'books[2] 2 -> 77'

(
    ulimit -n 80 # what is known of a process's code has files open
    watches 1 "${guard[@]}" -- ./books forks
    has_calls 100
) || exit 1

# What was written by a call is known: a comparison behind another finds nothing.
watches 0 --guard names --allow rename_all -- ./books calls
tells

# Behind exec another program's thief stands where the honest writer stood.
sed 's/NAME/honest/' >first.c <<'END_OF_SOURCE'
#include <unistd.h>
volatile unsigned long books;
__attribute__((noinline)) void NAME(void) {
    books++;
}
int main(int argc, char **argv) {
    for (int i = 0; i < 3; i++)
        NAME();
    if (argc > 1)
        execl(argv[1], argv[1], (char *)0);
    return 0;
}
END_OF_SOURCE
sed 's/honest/thiefs/' first.c >second.c
for name in first second; do
    build -O1 -no-pie $name.c -o $name
done
address() { nm "$1" | sed -nE "s/ T $2$//p"; }
[[ $(address first honest) == $(address second thiefs) ]] || fail "at other addresses"
watches 1 --guard "0x$(nm first | sed -nE 's/ B books$//p'):8" --allow honest -- ./first ./second
[[ $(grep -c '  thiefs  ' hits) -ge 3 && $(grep -c VIOLATION hits) -eq 3 ]] || fail "exec: $(cat hits)"

# So does a shared object's.
cat >host.c <<'END_OF_SOURCE'
#include <dlfcn.h>
#include <stdio.h>
volatile unsigned long books;
int main(int argc, char **argv) {
    void *last = 0;
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        void (*function)(volatile unsigned long *) =
            library ? (void (*)(volatile unsigned long *))dlsym(library, "put") : 0;
        if (!function) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        for (int j = 0; j < 3; j++)
            function(&books);
        printf("%d\n", (void *)function == last);
        last = (void *)function;
        dlclose(library);
    }
    return 0;
}
END_OF_SOURCE
for name in honest thiefs; do
    echo 'void put(volatile unsigned long *at) { ++*at; }' >$name.c
    build -O1 -shared -fPIC $name.c -o $name.so
done
build -O1 host.c -o host
watches 1 --guard books --allow honest.so -- ./host ./honest.so ./thiefs.so ./honest.so
[[ $(<output) == $'0\n1\n1' ]] || fail "not at the same address: $(cat output)"
tells 'books 3 -> 4' 'books 4 -> 5' 'books 5 -> 6'
leaves_nothing
