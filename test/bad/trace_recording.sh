#!/bin/bash
# A recording whose program, collector or disk ends early, whose memory is small, or whose processes outlive
# the program: what was recorded is there, and what is missing is said.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_program program --quipu=trace -O2 -g -pthread <<'PROGRAM'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile unsigned table[4096];
static unsigned long count;
static void *run(void *argument) {
    unsigned x = 1;
    for (unsigned long i = 0; i < count; i++) {
        x = x * 1103515245 + 12345;
        if (x & 1 << 20)
            table[x >> 20] += (unsigned)i;
    }
    return argument;
}
int main(int argc, char **argv) {
    const char *how = argc > 2 ? argv[2] : "";
    count = strtoul(argv[1], NULL, 10);
    if (strcmp(how, "child") == 0) {
        if (fork())
            return 7;
        sleep(1);
    }
    if (strcmp(how, "threads") == 0) {
        pthread_t threads[12];
        for (int i = 0; i < 12; i++)
            pthread_create(&threads[i], NULL, run, NULL);
        for (int i = 0; i < 12; i++)
            pthread_join(threads[i], NULL);
    }
    run(NULL);
    if (strcmp(how, "die") == 0)
        raise(SIGKILL);
    if (strcmp(how, "sleep") == 0) {
        fclose(fopen("ready", "w"));
        pause();
    }
    puts("done");
    return 3;
}
PROGRAM
# instructions FILE: how many executed instructions the trace has, and whether something is missing.
instructions() {
    quipu info --format=json "$1" >info.json || fail "cannot read '$1'"
    python3 - <<'PYTHON'
import json
trace, = json.load(open('info.json'))['traces']
assert not [thread for thread in trace['threads'] if thread['fault']], trace
print(sum(thread['instructions'] for thread in trace['threads']),
      *[flag for flag in ('cut', 'stopped', 'lost') if trace[flag]])
PYTHON
}
# records STATUS ARGUMENTS... -- COMMAND...: a recording into 't' that ends with STATUS.  File 'directory' gets
# the name of its directory of buffers.
records() {
    local status=0 wanted=$1 options=()
    for (( ; $# > 1; )); do
        shift
        [[ $1 == -- ]] && break
        options+=("$1")
    done
    shift
    # shellcheck disable=SC2016
    timeout 100 quipu trace -o t "${options[@]}" -- bash -c 'echo "$QUIPU_TRACE" >directory; exec "$@"' - "$@" \
        >output 2>messages || status=$?
    [[ $status -eq $wanted ]] || fail "'$*': exit status $status: $(head -c 1000 messages)"
}
# leaves_nothing WHAT [DIRECTORY]: the directory of buffers, of the last recording, is not there any more.
leaves_nothing() {
    local directory=${2:-$(cat directory)}
    [[ -n $directory && ! -e $directory ]] || fail "$1: '$directory' is left"
}

quipu info program >info.txt || fail "info of the program: $(cat info.txt)"
grep -q '^  traced        2 functions with [1-9][0-9]* records, ' info.txt || fail "info: $(cat info.txt)"

records 3 -- ./program 300000
whole=$(instructions t)
[[ $whole =~ ^[0-9]+$ && $whole -gt 1500000 ]] || fail "a whole trace: $whole"
[[ $(cat output) == "done" ]] || fail "the program's output: $(cat output)"
leaves_nothing whole

# ---- without a recording ----
make_program storm --quipu=trace -O2 -fPIC -pthread <<'PROGRAM'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int count, stop;
static void handle(int number) {
    (void)number;
    stop = ++count >= 1000;
}
__attribute__((noinline)) static long choose(long x) {
    switch (x & 7) {
    case 0: return x * 3;
    case 1: return x + 2;
    case 2: return x ^ 9;
    case 3: return x - 8;
    default: return 1;
    }
}
static void *send(void *to) {
    while (!stop) {
        pthread_kill(*(pthread_t *)to, SIGUSR2);
        usleep(50);
    }
    return NULL;
}
int main(void) {
    struct sigaction action = {.sa_handler = handle};
    pthread_t self = pthread_self(), thread;
    long sum = 0;
    sigaction(SIGUSR2, &action, NULL);
    pthread_create(&thread, NULL, send, &self);
    while (!stop)
        sum += choose(sum + count);
    return pthread_join(thread, NULL);
}
PROGRAM
timeout 60 ./storm || fail "without a recording, signals end it: $?"
records 0 -- ./storm
[[ $(instructions t) =~ ^[0-9]+$ ]] || fail "storm: $(instructions t)"

# ---- the program ----
records 137 -- ./program 300000 die
died=$(instructions t)
[[ $died =~ ^[0-9]+$ && $died -gt $((whole - 50)) ]] || fail "killed, it has $died of $whole instructions"
leaves_nothing killed

# ---- little memory ----
for memory in 0 1M; do
    records 3 --memory=$memory -- ./program 300000 threads
    threads=$(instructions t)
    [[ $threads =~ ^[0-9]+$ && $threads -gt $((12 * whole)) ]] || fail "--memory=$memory: $threads"
done
# However busy one process is, those that have ended leave no buffers: it has 16 at most.
# shellcheck disable=SC2016
timeout 100 quipu trace -o t -- bash -c './program 60000000 >output & for i in {1..80}; do ./program 1 >one
done; ls "$QUIPU_TRACE" >left; kill $!; wait' || true
[[ $(wc -l <left) -lt 60 ]] || fail "of 80 processes that have ended, buffers are left: $(wc -l <left)"
refuses "--memory='much'" "not a size" -- quipu trace --memory=much -o t -- ./program 1
refuses "--level='20'" "from 0 to 19" -- quipu trace --level=20 -o t -- ./program 1

# ---- a disk without room ----
(
    ulimit -f 1000
    trap '' XFSZ
    records 3 --level=0 -- ./program 20000000
) || exit 1
grep -q "cannot write 't': File too large" messages || fail "nothing tells of a full disk: $(cat messages)"
read -r full flags <<<"$(instructions t)"
[[ $flags == cut && $full -gt 1000000 ]] || fail "of a full disk: $full $flags"
leaves_nothing full
records 1 --level=0 -o /dev/full -- ./program 1
grep -q "cannot write '/dev/full': No space left" messages || fail "/dev/full: $(cat messages)"
refuses "cannot write 'nowhere/t'" "No such file" -- quipu trace -o nowhere/t -- ./program 1

# ---- processes that run on ----
records 7 -- ./program 300000 child
[[ $(instructions t) -gt $whole ]] || fail "the child is not in the trace: $(instructions t)"
leaves_nothing child

# end_recording SIGNAL: of one whose program waits.
end_recording() {
    rm -f ready
    # shellcheck disable=SC2016
    quipu trace -o t -- bash -c 'echo "$QUIPU_TRACE" >directory; exec ./program 300000 sleep' >output 2>messages &
    local collector=$!
    timeout 60 bash -c 'until [[ -e ready ]]; do sleep 0.05; done' || fail "the program does not begin"
    program=$(pgrep -P $collector)
    kill "-$1" $collector
    wait $collector
}
status=0
end_recording TERM || status=$?
[[ $status -eq 143 ]] || fail "SIGTERM was not passed on: $status"
read -r stopped flags <<<"$(instructions t)"
[[ -z $flags && $stopped -gt $((whole - 50)) ]] || fail "SIGTERM: $stopped $flags"

# ---- the collector ----
end_recording KILL
read -r killed flags <<<"$(instructions t)"
[[ $flags == cut ]] || fail "killed: $killed $flags"
left=$(cat directory)
kill "$program"
records 3 -- ./program 1
leaves_nothing "the next recording" "$left"
# A thread that waits for a buffer does not wait for ever.
rm -f ready
quipu trace --memory=0 -o t -- ./program 400000000 sleep >output 2>messages &
collector=$!
sleep 0.5
program=$(pgrep -P $collector)
kill -KILL $collector
timeout 100 bash -c 'until [[ -e ready ]]; do sleep 0.1; done' || fail "the program hangs without its collector"
kill "$program"

# What was built for another format of traces tells the recording, and records nothing.
mkdir foreign
printf '\211qtrace\r\143\0\0\0' >foreign/control
truncate -s 4096 foreign/control
QUIPU_TRACE=$PWD/foreign ends 3 ./program 10
ends 3 quipu trace -o own -- ./program 10
number_in() { od -An -t u4 -j "$2" -N 4 "$1" | tr -d ' '; }
[ "$(number_in foreign/control 68)" = "$(number_in own 8)" ] || fail "it does not tell its own format"
# shellcheck disable=SC2016
quipu trace -o other -- sh -c \
    'printf "\003" | dd of="$QUIPU_TRACE/control" bs=1 seek=68 conv=notrunc status=none' || fail "cannot record"
refuses "'other' has no records" "another format of traces" "build it again" -- quipu print other
