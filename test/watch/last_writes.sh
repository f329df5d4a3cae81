#!/bin/bash
# With many regions not each call is followed by a comparison.  What a library has written last is told
# when the program ends, whichever way it does, before it forks, and before the module is closed; once, and
# for the call that made it, unless that is not certain.
# timeout: 120
. "$(dirname "$0")/lib.bash"

cat >library.c <<'EOT'
void update(unsigned *s, unsigned n) { *s += n; }
EOT
cat >program.c <<'EOT'
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void update(unsigned *, unsigned);
static unsigned *block[400];
static volatile int calls;

static __attribute__((noinline)) void by_call(unsigned *s) {
    update(s, 9);
    calls++;
}
static __attribute__((noinline)) void by_jump(unsigned *s) { update(s, 9); }

static void end(const char *way) {
    if (strcmp(way, "two") == 0)
        update(block[5], 0);
    if (strcmp(way, "exit") == 0 || strcmp(way, "two") == 0)
        exit(0);
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(0);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "assert") == 0)
        assert(block[3] == 0);
    if (strcmp(way, "exec") == 0)
        execl("/bin/true", "true", (char *)0);
    if (strcmp(way, "fork") == 0 && fork() == 0)
        exit(0);
    if (strcmp(way, "vfork") == 0 && vfork() == 0)
        execl("/bin/true", "true", (char *)0);
    wait(0);
}

int main(int argc, char **argv) {
    int count = atoi(argv[2]);
    for (int i = 0; i < count; i++)
        block[i] = malloc(32); /* these */
    if (count > 256)
        update(block[1], 0);
    if (argc > 3)
        by_jump(block[3]);
    else
        by_call(block[3]);
    if (strcmp(argv[1], "return") != 0)
        end(argv[1]);
    return 0;
}
EOT
gcc -O2 -fPIC -shared library.c -o libupdate.so || fail "cannot build the library"
quipu cc --quipu=watch -g -O2 program.c -o program -L. -lupdate -Wl,-rpath,"$PWD" || fail "cannot build"
line=$(grep -n 'these' program.c | cut -d: -f1)

# expects HIT ARGS...: the program has one hit, which matches HIT.
expects() {
    local hit=$1
    shift
    timeout 60 quipu watch --never-written "heap:program.c:$line" --format=json --log=hits -- ./program "$@" >out 2>&1
    [ $? -eq 1 ] || fail "$*: not told as a write that must not be: $(cat out)"
    [ "$(wc -l <hits)" -eq 1 ] || fail "$*: $(cat hits)"
    grep "$hit" hits >/dev/null || fail "$*: $hit: $(cat hits)"
}

for way in exit _exit quick_exit abort assert exec fork vfork; do
    expects '"block":4,.*"function":"by_call".*"found_later":true,"undecided":false' "$way" 400
    expects '"block":4,.*"function":"by_jump".*"found_later":true,"undecided":false' "$way" 400 jump
done
expects '"function":"by_call".*"found_later":true,"undecided":true' return 400
expects '"function":"end".*"found_later":true,"undecided":true' two 400
expects '"function":"by_call".*"found_later":false,"undecided":false' exit 40
expects '"function":"by_jump".*"found_later":true,"undecided":false' exit 40 jump

# A module that is closed: its last call, from its own code.
cat >plugin.c <<'EOT'
void update(unsigned *, unsigned);
unsigned cells[400];
static volatile int calls;
void run(void) {
    update(&cells[1], 0);
    update(&cells[3], 9);
    calls++;
}
EOT
cat >host.c <<'EOT'
#include <dlfcn.h>
int main(void) {
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    void (*run)(void) = (void (*)(void))dlsym(plugin, "run");
    run();
    dlclose(plugin);
    return 0;
}
EOT
quipu cc --quipu=watch -g -O2 -fPIC -shared plugin.c -o plugin.so -L. -lupdate -Wl,-rpath,"$PWD" &&
    quipu cc --quipu=watch -g -O2 host.c -o host -ldl || fail "cannot build the module"
mapfile -t regions < <(seq 0 399 | sed 's/.*/-eplugin.so:cells[&]/')
timeout 60 quipu watch "${regions[@]}" -- ./host >out 2>&1
[ "$(grep -c 'cells\[3\]  0 [-~]> 9' out)" -eq 1 ] || fail "a closed module: $(cat out)"
