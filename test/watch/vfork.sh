#!/bin/bash
# A child of vfork has its parent's memory, and the parent waits in the kernel meanwhile: writes of the child
# are told with its number and its calls, and it goes on.
# timeout: 60
. "$(dirname "$0")/lib.bash"

cat >program.c <<'EOT'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int shared;
static __attribute__((noinline)) void write_there(int value) { shared = value; }
int main(void) {
    pid_t child = vfork();
    if (child == 0) {
        write_there(5);
        _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d %d %d\n", (int)child, shared, WEXITSTATUS(status));
    return 0;
}
EOT
quipu cc --quipu=watch -O1 -g program.c -o program || fail "cannot build"

watches 1 --format=json --never-written shared -- ./program
read -r child value status <output
[[ "$value $status" == "5 3" ]] || fail "the program: $(cat output)"
grep -c "\"process\":$child,\"thread\":$child,.*\"function\":\"write_there\".*#1 [^,]*main  program.c:9" hits >count ||
    fail "not told, or not with the child's calls: $(cat hits)"
[[ $(wc -l <hits) -eq 1 ]] || fail "hits: $(cat hits)"

# --fatal ends the child alone.
watches 1 --fatal --never-written shared -- ./program
grep ' 5 0$' output >/dev/null || fail "--fatal: $(cat output)"
