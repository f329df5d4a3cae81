#!/bin/bash
# Frequent system calls are recorded inside of the program, and given there: see parts/inside.c.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_plain inside inside.c -O2 -pthread
make_plain fixed inside.c -O2 -pthread -static

# stops REQUEST: how often the thread was continued so.
stops() {
    grep -c "ptrace($1," calls
}

# calls_of RECORDING: how many calls it has.
calls_of() {
    quipu info --format=json "$1" | sed -n 's/.*"calls": *\([0-9]*\).*/\1/p' | head -1
}

for program in ./inside ./fixed; do
    for way in plain signals breaks threads filter; do
        repeats 3 $program $way
    done
done

# A child that shares the memory, up to its program, has a descriptor where its maker has standard output.
cat >spawns.c <<'END'
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(void) {
    posix_spawn_file_actions_t actions;
    char *arguments[] = {"true", NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
    for (int i = 0, null = open("/dev/null", 1); i < 5; i++)
        write(null, "line\n", 5);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            write(1, "line\n", 5);
        posix_spawnp(&(pid_t){0}, "true", &actions, NULL, arguments, environ);
        wait(NULL);
    }
    return 3;
}
END
gcc -w -D_GNU_SOURCE -O1 -o spawns spawns.c || fail "cannot build 'spawns'"
repeats 3 ./spawns
[[ $(grep -c line replayed.out) -eq 16 ]] || fail "'spawns' has not written all lines"
needs strace
timeout 100 strace -o calls -e trace=ptrace quipu record -o run.rec -- ./inside plain >recorded.out 2>&1 ||
    [[ $? -eq 3 ]] || fail "the recorder does not work below strace"
number=$(calls_of run.rec)
[[ $number -gt 18000 ]] || fail "only $number calls were recorded"
[[ $(stops PTRACE_SYSCALL) -lt $((number / 10)) ]] ||
    fail "$(stops PTRACE_SYSCALL) stops at $number recorded calls"
timeout 100 strace -o calls -e trace=ptrace quipu replay --check run.rec >replayed.out 2>&1
cmp recorded.out replayed.out || fail "the replay below strace differs"
[[ $(stops PTRACE_SYSEMU) -lt $((number / 10)) ]] ||
    fail "$(stops PTRACE_SYSEMU) stops at $number replayed calls"

# The memory that is for this is not in what the program reads of its map.
records 3 ./inside map
grep -q '^7[0-9a-f]*-.*stack' recorded.out || fail "the map is not complete: $(head -3 recorded.out)"
! grep -q '^7000\|^7001' recorded.out || fail "the map has the memory inside"
replays 3
cmp recorded.out replayed.out || fail "the replay has read another map"

# Nothing of it with --stops.
timeout 100 quipu record --stops -o run.rec -- ./inside filter >recorded.out || [[ $? -eq 3 ]] ||
    fail "--stops: not the program's status"
replays 3
cmp recorded.out replayed.out || fail "--stops: the replay differs"
timeout 100 strace -o calls -e trace=ptrace quipu record --stops -o run.rec -- ls / >/dev/null 2>&1
[[ $(stops PTRACE_SYSCALL) -ge $(calls_of run.rec) ]] || fail "--stops: calls do not stop"

# Two recordings differ, so what the tests above compare comes from outside.
records 3 ./inside signals
cp recorded.out first.out
records 3 ./inside signals
! cmp -s first.out recorded.out || fail "two runs are the same"
