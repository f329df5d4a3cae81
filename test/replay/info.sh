#!/bin/bash
# What quipu info tells of a recording, in text and JSON: the same as the program did.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void handle(int number) { (void)number; }
int main(int argc, char **argv) {
    signal(SIGUSR1, handle);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    for (int i = 0; i < atoi(argv[1]); i++)
        syscall(SYS_getppid);
    if (argc > 2)
        abort();
    return 7;
}
END
gcc -O1 -static -o program program.c || fail "cannot build 'program'"

# tell KEY: the value of the recording's KEY in JSON.
tell() {
    quipu info --format=json run.rec |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["recordings"][0].get(sys.argv[1]))' "$1"
}

records 7 ./program 100
calls=$(tell calls)
[[ $(tell status) == 7 && $(tell cut) == False && $(tell stopped) == None && $(tell threads) == 1 ]] ||
    fail "the end: status $(tell status), cut $(tell cut)"
[[ $(tell signals) == 3 && $(tell program) == "$PWD/program" && $(tell command) == "['./program', '100']" ]] ||
    fail "the program: $(tell signals) signals, $(tell command)"
[[ $(tell file_bytes) == "$(stat -c %s run.rec)" ]] || fail "the size: $(tell file_bytes)"
records 7 ./program 150
[[ $(tell calls) -eq $((calls + 50)) ]] || fail "50 calls more: $(tell calls), not $((calls + 50))"

quipu info run.rec >text || fail "cannot tell of it"
for line in 'run.rec' "  program       $PWD/program" '  command       ./program 150' '  signals       3' \
    '    3 of signal 10 (User defined signal 1)' '  ends          with status 7'; do
    grep -qxF -- "$line" text || fail "no line '$line' in: $(<text)"
done

ulimit -c 0
records 134 ./program 1 abort 2>/dev/null
[[ $(tell signal) == 6 && $(tell status) == None && $(tell signals) == 4 ]] || fail "the end by a signal: $(tell signal)"
head -c $(($(stat -c %s run.rec) / 2)) run.rec >cut.rec
mv cut.rec run.rec
status=0
quipu info run.rec >text 2>&1 || status=$?
[[ $status -le 1 ]] && grep -q cut text || fail "a cut recording: $(<text)"

# Several processes and threads: their names tell who made them.
cat >tree.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *fork_one(void *argument) {
    if (fork() == 0)
        _exit(4);
    wait(NULL);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    if (fork() == 0)
        _exit(fork() == 0 ? 2 : 3);
    wait(NULL);
    if (fork() == 0)
        execl("/bin/sh", "sh", "-c", "kill -9 $$", NULL);
    wait(NULL);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, fork_one, NULL);
        pthread_join(threads[i], NULL);
    }
    return 5;
}
END
gcc -O1 -pthread -o tree tree.c || fail "cannot build 'tree'"
records 5 ./tree
got=$(quipu info --format=json run.rec | python3 -c 'import json, sys
for process in json.load(sys.stdin)["recordings"][0]["processes"]:
    print(process["name"], process.get("status", process.get("signal")), *[thread["name"] for thread in process["threads"]])' | sort)
wanted='1 5 1 1:1 1:2
1/1 3 1/1
1/1/1 2 1/1/1
1/2 9 1/2
1:1/1 4 1:1/1
1:2/1 4 1:2/1'
[[ $got == "$wanted" ]] || fail "the processes: $got"
