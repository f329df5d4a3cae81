#!/bin/bash
# Moments of a shared object, by its own counter: it is linked, or loaded later, also by a second thread
# and by a program that is not instrumented.  The build id tells which object a moment is of; one of an
# older build of the program is refused before any code of that runs.
. "$(dirname "$0")/../bad/lib.bash"
cat >library.c <<'EOT'
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>
int visits;
__attribute__((constructor)) static void begin(void) {
    visits = 1;
}
__attribute__((noipa)) static void visit(int n) {
    char text[256];
    visits += n;
    struct quipu_moment now = quipu_now();
    quipu_print_moment(&now, text, sizeof text);
    printf("%s %d\n", text, visits);
    fflush(stdout);
}
static void *visit_ten(void *argument) {
    for (int i = 0; i < 10; i++)
        visit(i);
    return argument;
}
int run(void) {
    pthread_t thread;
    visit_ten(NULL);
    return pthread_create(&thread, NULL, visit_ten, NULL) || pthread_join(thread, NULL);
}
EOT
cat >linked.c <<'EOT'
int run(void);
__attribute__((noipa)) static int visit(int n) {
    return n;
}
int main(void) {
    return visit(0) + run();
}
EOT
cat >loading.c <<'EOT'
#include <dlfcn.h>
#include <pthread.h>
static int (*run)(void);
static void *load(void *path) {
    void *library = dlopen(path, RTLD_NOW);
    run = library ? (int (*)(void))dlsym(library, "run") : NULL;
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t thread;
    if (argc < 2 || pthread_create(&thread, NULL, load, argv[1]) || pthread_join(thread, NULL))
        return 2;
    return run ? run() : 3;
}
EOT
quipu cc --quipu=moment -O1 -g -fPIC -shared library.c -o library.so || fail "cannot build 'library.so'"
quipu cc --quipu=moment -O1 -g linked.c -o linked "$PWD/library.so" || fail "cannot build 'linked'"
gcc -O1 -g linked.c -o plain "$PWD/library.so" || fail "cannot build 'plain'"
gcc -O1 -g -pthread loading.c -o loading || fail "cannot build 'loading'"
cat >command.sh <<'EOT'
gdb -q -batch -p "$QUIPU_THREAD" -ex 'p visits' 2>/dev/null | sed -n 's/^\$1 = /visits /p'
EOT
for program in "./linked" "./plain" "./loading ./library.so"; do
    read -ra words <<<"$program"
    "${words[@]}" >moments || fail "'$program' failed"
    [[ $(wc -l <moments) -eq 20 ]] || fail "'$program' printed: $(cat moments)"
    for line in 1 6 20; do
        read -r moment visits < <(sed -n "${line}p" moments)
        ends 0 quipu goto --print "$moment" -- "${words[@]}"
        grep -q "^$moment  " output || fail "'$moment', $program: $(cat output)"
        grep -q 'visit_ten  library.c:18' output || fail "no backtrace: $(cat output)"
        type -P gdb >/dev/null || continue
        ends 0 quipu goto --exec='sh command.sh' "$moment" -- "${words[@]}"
        grep -qx "visits $visits" output || fail "'$moment', $program, not $visits: $(cat output)"
    done
    ends 0 quipu goto --print "begin@1~${moment#*~}" -- "${words[@]}"
done
build=${moment#*~}
refuses "library.so" "no function 'nowhere'" -- quipu goto "nowhere@1~$build" -- ./plain
refuses "not loaded" "exit status 3" -- quipu goto "$moment" -- ./loading ./nowhere.so
strip -o stripped.so library.so
refuses "stripped.so" "symbols" -- quipu goto "$moment" -- ./loading ./stripped.so
refuses "of another build (build id 00000000" -- quipu goto "visit@1~00000000" -- ./linked
[[ ! -s output ]] || fail "a moment of another build has run the program: $(cat output)"
