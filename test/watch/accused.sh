#!/bin/bash
# What is found to have changed behind a call may be another thread's: then all are named that may have
# changed it, nobody is accused, and --fatal ends nothing; where it is one call's alone, that is told.
# timeout: 300
. "$(dirname "$0")/lib.bash"

cat >plain.c <<'EOT'
#include <stdio.h>
#include <string.h>
void set_name(char *name, int i) { sprintf(name, "name %d", i % 7); }
void do_nothing(void) { for (volatile int i = 0; i < 30; i++) continue; }
void write_slowly(volatile char *name) {
    for (int i = 0; i < 16; i++, name++) {
        ++*name;
        for (volatile int j = 0; j < 40; j++) continue;
    }
}
void call_back(void (*function)(void), char *name) { name[0]++; function(); }
EOT
gcc -O2 -c plain.c -o plain.o || fail "cannot build plain.o"

# undecided FILE: how many hits are; each names others, or says that they are not known.
cat >look.py <<'EOT'
import json, sys
hits = [json.loads(line) for line in open('hits')]
for hit in hits:
    assert not (hit['violation'] and hit['undecided']), hit
    assert not hit['undecided'] or hit['others'] or hit['unknown_others'], hit
    assert not hit['undecided'] or not hit['exact'], hit
    assert hit['undecided'] or hit['function'] in sys.argv[2:], hit
    for other in hit.get('others', []):
        assert other['function'] and other['line'], hit
old = None
for hit in hits: # all that has changed is told, once
    assert old in (None, hit['old_bytes']) or hit['offset'] != offset, (old, hit)
    old, offset = hit['new_bytes'], hit['offset']
assert len(hits) >= int(sys.argv[1]), len(hits)
EOT

# The heap, and what the C library writes in it; a thread that may, and main, which does not.
cat >heap.c <<'EOT'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *name;
static void *owner(void *argument) {
    for (int i = 0; i < 2000; i++)
        snprintf(name, 16, "c%d", i);
    return argument;
}
int main(void) {
    pthread_t thread;
    name = calloc(1, 64);
    pthread_create(&thread, 0, owner, 0);
    char text[32];
    long sum = 0;
    for (int i = 0; i < 2000; i++) {
        sprintf(text, "message %d", i);
        sum += (long)strlen(text);
    }
    pthread_join(thread, 0);
    return printf("%ld %s\n", sum, name) < 0;
}
EOT
quipu cc --quipu=watch -O1 -g -pthread heap.c -o heap || fail "cannot build heap.c"
for ((i = 0; i < 15; i++)); do
    watches 0 --guard heap:heap.c:13 --allow owner --fatal -- ./heap
    [[ ! -s hits ]] || fail "accused: $(cat hits)"
done
watches 1 --guard heap:heap.c:13 --allow main -- ./heap
[[ $(grep -c ' owner .*VIOLATION' hits) -ge 1900 ]] || fail "nobody is accused: $(head -50 hits messages)"
! grep -E '^ *[0-9]+: ' hits | grep -v ' owner ' || fail "accused: $(cat hits)"

# A variable, calls that are not known: another thread's, and pthread_create.
cat >variable.c <<'EOT'
#include <pthread.h>
extern void set_name(char *, int), do_nothing(void);
char name[16];
static volatile int done;
static void *owner(void *argument) {
    for (int i = 0; i < 1500; i++)
        set_name(name, i);
    done = 1;
    return argument;
}
static void *other(void *argument) {
    while (!done)
        do_nothing();
    return argument;
}
static void *nobody(void *argument) { return argument; }
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, owner, 0);
    pthread_create(&threads[1], 0, other, 0);
    while (!done) {
        pthread_create(&threads[2], 0, nobody, 0);
        pthread_join(threads[2], 0);
    }
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g -pthread variable.c plain.o -o variable || fail "cannot build variable.c"
for ((i = 0; i < 5; i++)); do
    watches 0 --format=json -e name -- ./variable
    python3 look.py 1000 owner >wrong 2>&1 || fail "variable: $(cat wrong)"
    watches 0 --guard name --allow owner --fatal -- ./variable
    [[ ! -s hits ]] || fail "accused: $(cat hits)"
done
grep -q "'name': [0-9]* changes* may be of any of several calls" messages ||
    fail "nothing is said of what is not judged: $(cat messages)"
watches 0 --summary --format=csv -e name -- ./variable
grep -q '^hits,changes,undecided,function' hits || fail "summary: $(cat hits)"

# What is found while it is being written: the next comparison finds the rest, and begins where this ended.
sed 's/set_name(name, i)/write_slowly(name)/; s/set_name(char \*, int)/write_slowly(char *)/' variable.c >slow.c
quipu cc --quipu=watch -O1 -g -pthread slow.c plain.o -o slow || fail "cannot build slow.c"
for ((i = 0; i < 3; i++)); do
    watches 0 --format=json -e name -- ./slow
    python3 look.py 1500 owner >wrong 2>&1 || fail "slow: $(cat wrong)"
done

# Known functions are told by what they write: strcpy and memset of one thread, snprintf of another, and
# calls of a third that writes elsewhere.
cat >known.c <<'EOT'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
extern void do_nothing(void);
char name[16], title[16];
static void *copies(void *argument) {
    for (int i = 0; i < 1500; i++)
        i % 2 ? (void)strcpy(name, "one") : (void)memset(name, 'x', 7);
    return argument;
}
static void *prints(void *argument) {
    for (int i = 0; i < 1500; i++)
        snprintf(title, sizeof title, "%d", i);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, copies, 0);
    pthread_create(&threads[1], 0, prints, 0);
    for (int i = 0; i < 1500; i++)
        do_nothing();
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g -fno-builtin -pthread known.c plain.o -o known || fail "cannot build known.c"
watches 0 --format=json -e name -- ./known
python3 look.py 1500 copies >wrong 2>&1 || fail "known: $(cat wrong)"
watches 0 --guard name --guard title --allow copies --allow prints --fatal -- ./known
[[ ! -s hits ]] || fail "accused: $(cat hits)"

# What a function changes before it calls back is not what is called there.
cat >nested.c <<'EOT'
extern void call_back(void (*)(void), char *), do_nothing(void);
char name[16];
static void inner(void) { do_nothing(); }
int main(void) {
    for (int i = 0; i < 5; i++)
        call_back(inner, name);
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g nested.c plain.o -o nested || fail "cannot build nested.c"
watches 0 --guard name --allow main --fatal -- ./nested
[[ ! -s hits ]] || fail "accused: $(cat hits)"
watches 0 --guard name --allow nobody -- ./nested
[[ $(grep -c 'or by thread [0-9]*: main  nested.c:6  call call_back)' hits) -eq 5 ]] ||
    fail "not both are named: $(cat hits)"

# What a function jumps to at its end is not come back from there: the next call finds what it has written.
cat >ends.c <<'EOT'
extern void set_name(char *, int), do_nothing(void), set_many(char *, int, int, int, int, int, int, int);
char name[16];
void (*volatile setter)(char *, int) = set_name;
__attribute__((noipa)) void direct(int i) { set_name(name, i); }
__attribute__((noipa)) void indirect(int i) { setter(name, i); }
__attribute__((noipa)) void on_stack(char *at, int a, int b, int c, int d, int e, int f, int g) {
    set_many(at, b, a, c, d, e, f, g);
}
__attribute__((noipa)) void own(int i) { direct(i); }
int main(void) {
    direct(1);
    do_nothing();
    indirect(2);
    do_nothing();
    on_stack(name, 3, 1, 1, 1, 1, 1, 1);
    do_nothing();
    own(4);
    do_nothing();
    do_nothing();
    return 0;
}
EOT
cat >many.c <<'EOT'
void set_many(char *name, int a, int b, int c, int d, int e, int f, int g) {
    name[0] = (char)(a + b + c + d + e + f + g);
}
EOT
gcc -O2 -c many.c -o many.o || fail "cannot build many.o"
for flags in '' '-fPIC -fno-plt' '-pthread -fno-pie -no-pie'; do
    # shellcheck disable=SC2086
    quipu cc --quipu=watch -O2 -g $flags ends.c plain.o many.o -o ends || fail "$flags: cannot build ends.c"
    watches 0 -e name -- ./ends
    sed -E 's/.*main  ends.c:/main /; s/thread [0-9]+/T/; s/ends.c//; s/jmp \*.*/jmp *POINTER)/' hits | # any compiler's
        tr -s ' ' >told
    diff - told <<'EOT' || fail "$flags: $(cat hits)"
main 12 call do_nothing (changed during the call, or by T: direct :4 jmp set_name)
main 14 call do_nothing (changed during the call, or by T: indirect :5 jmp *POINTER)
main 16 call do_nothing (changed during the call, or by T: on_stack :7 jmp set_many)
main 18 call do_nothing (changed during the call, or by T: direct :4 jmp set_name)
EOT
    watches 0 --guard name --allow nobody --fatal -- ./ends
done

# One thread, in an executable that does not know how many it has.
cat >alone.c <<'EOT'
extern void set_name(char *, int), do_nothing(void);
char name[16];
int main(void) {
    for (int i = 0; i < 5; i++) {
        do_nothing();
        set_name(name, i);
    }
    return 0;
}
EOT
for kind in -pie -static; do
    quipu cc --quipu=watch -O1 -g "$kind" alone.c plain.o -o alone || fail "cannot build alone.c"
    watches 0 --format=json -e name -- ./alone
    [[ $(grep -c '"exact":true.*"function":"main".*"undecided":false' hits) -eq 5 ]] ||
        fail "$kind: alone: $(cat hits)"
    watches 1 --guard name --allow nobody -- ./alone
    [[ $(grep -c VIOLATION hits) -eq 5 ]] || fail "$kind: alone, nobody is accused: $(cat hits)"
done

# Memory that another process writes, too.
cat >shared.c <<'EOT'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
extern void set_name(char *, int), do_nothing(void);
int main(void) {
    char *name = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0) {
        for (int i = 0; i < 200; i++)
            set_name(name, i);
        return 0;
    }
    while (waitpid(-1, 0, WNOHANG) == 0)
        do_nothing();
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g shared.c plain.o -o shared || fail "cannot build shared.c"
watches 0 --guard heap:shared.c:7 --allow set_name --fatal -- ./shared
! grep -q VIOLATION hits || fail "accused: $(cat hits)"
grep -qE 'do_nothing  \(changed .*, or by .* code that is not known\)' hits ||
    fail "another process is not thought of: $(cat hits)"
leaves_nothing
