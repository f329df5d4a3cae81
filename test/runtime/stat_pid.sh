#!/bin/bash
# stat_pid.sh: 'quipu stat --pid': the counts of a running process at the instructions where its
# threads stand, with what the program says of itself and with what must hold at any instruction.
. "$(dirname "$0")/../bad/lib.bash"

trap 'kill -KILL $(jobs -p) 2>/dev/null' EXIT
kinds=(--quipu=event)
for kind in instructions branches branches-taken branches-not-taken calls loads stores; do
    kinds+=("--quipu-event=$kind")
done

# counts PID: "instructions=5 branches=1 ..."
counts() {
    quipu stat --pid="$1" --by=event --format=json >counts.json || fail "no counts of $1"
    python3 -c 'import json; print(*(f"""{e["event"]}={e["count"]}"""
        for e in json.load(open("counts.json"))["events"]))'
}

# untouched PID STATE...: its threads are traced by nobody, and in one of the states.
untouched() {
    local pid=$1
    shift
    for status in /proc/"$pid"/task/*/status; do
        grep -q '^TracerPid:.0$' "$status" || fail "process $pid is still traced"
        grep -qE "^State:.[$*]" "$status" || fail "process $pid: $(grep ^State "$status")"
    done
}

# ---- a thread that waits at a known instruction ----

# note writes the events of the moment that it is called, by the program's own means.
cat >note.c <<'END'
#include <quipu.h>
#include <stdio.h>
void note(void) {
    static const char *const names[] = {"instructions", "blocks", "branches", "branches-taken",
                                        "branches-not-taken", "calls", "returns", "loads", "stores"};
    FILE *file = fopen("noted.new", "w");
    for (int kind = 0; kind < 9; kind++)
        if (quipu_events(kind) != QUIPU_NOT_INSTRUMENTED)
            fprintf(file, "%s=%llu ", names[kind], (unsigned long long)quipu_events(kind));
    fclose(file);
    rename("noted.new", "noted");
}
END
include=$(dirname "$(readlink -f "$quipu")")/../include
[[ -e $include/quipu.h ]] || include=$(dirname "$0")/../../include
gcc -O2 -I"$include" -c note.c || fail "cannot build note.c"

# Behind the call of note three instructions are done, one of them a load; pause, number 34, is not.
cat >waiting.s <<'END'
        .text
        .globl main
        .type main, @function
main:   subq $24, %rsp
        movl $7, %ecx
.Lturn: decl %ecx
        jne .Lturn
        call note
        movq (%rsp), %rdx
        nop
        movl $34, %eax
        syscall
        addq $24, %rsp
        xorl %eax, %eax
        ret
        .size main, .-main
        .section .note.GNU-stack, "", @progbits
END
quipu cc "${kinds[@]}" waiting.s note.o -o waiting || fail "cannot build waiting"
./waiting &
awaits is_there noted
awaits is_in $! S
got=$(counts $!) || fail "$got"
wanted=$(python3 -c '
more = {"instructions": 3, "loads": 1}
for word in open("noted").read().split():
    kind, count = word.split("=")
    print(f"{kind}={int(count) + more.get(kind, 0)}", end=" ")')
[[ "$got " == "$wanted" ]] || fail "at pause: '$got', not '$wanted'"
[[ $got == *"instructions=20 branches=7 branches-taken=6 branches-not-taken=1 calls=1 "* ]] ||
    fail "at pause: '$got'"
untouched $! S
kill -STOP $!
awaits is_in $! T
[[ $(counts $!) == "$got" ]] || fail "stopped: '$(counts $!)', not '$got'"
untouched $! T
kill -CONT $!
awaits is_in $! S
untouched $! S
kill $!

# ---- threads that run, with and without signal handlers ----

cat >spin.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned long mix(unsigned long x) {
    for (int i = 0; i < 50; i++) {
        if (x & 1)
            x = x * 3 + 1;
        else if (x & 6)
            x /= 2;
        else
            x ^= x >> 3;
        sink += (x & 0xff) == 7 && i % 3;
    }
    return x;
}
static _Atomic int begun;
static void *turn(void *start) {
    begun++;
    for (unsigned long x = (unsigned long)start;; sink = x)
        switch ((x = mix(x + 1)) % 5) {
        case 0: x++; break;
        case 1: x += 7; break;
        case 2: x ^= 9; break;
        case 3: sink += x; break;
        default: x *= 5;
        }
    return 0;
}
static void handle(int number) {
    unsigned long x = (unsigned long)number;
    for (int i = 0; i < 3000; i++)
        x = mix(x);
    sink = x;
}
int main(int argc, char **argv) {
    pthread_t thread;
    struct itimerval often = {{0, 3000}, {0, 3000}};
    for (long i = 1; i < 4; i++)
        pthread_create(&thread, 0, turn, (void *)(i * 77));
    while (begun < 3) /* threads that have counted nothing are in no table */
        usleep(1000);
    signal(SIGALRM, handle);
    if (argc > 2)
        setitimer(ITIMER_REAL, &often, 0);
    fclose(fopen(argv[1], "w+"));
    FILE *file = fopen(argv[1], "w");
    fputs("ready", file);
    fclose(file);
    turn(0);
}
END
quipu cc "${kinds[@]}" -O2 -pthread spin.c -o spin || fail "cannot build spin"
quipu cc "${kinds[@]}" -O0 -static -pthread spin.c -o spin_static || fail "cannot build spin_static"

# check PID: at each of many instants, in each thread, branches are those taken and those not.
check() {
    python3 - "$1" <<'END' || fail "process $1: branches do not sum up"
import json, subprocess, sys
last, wrong, looked = {}, 0, 0
for _ in range(25):
    out = subprocess.run(['quipu', 'stat', '--pid', sys.argv[1], '--by=thread', '--format=json'],
                         stdout=subprocess.PIPE, check=True).stdout
    threads = {}
    for row in json.loads(out)['events']:
        threads.setdefault(row['thread'], {})[row['event']] = row['count']
    assert len(threads) == 4, threads
    for number, counts in threads.items():
        looked += 1
        wrong += counts['branches'] != counts['branches-taken'] + counts['branches-not-taken']
        for kind, count in counts.items():
            assert count >= last.get((number, kind), 0), (number, kind)
            last[number, kind] = count
if wrong:
    print(f'{wrong} of {looked} do not')
    sys.exit(1)
END
}
for program in spin spin_static; do
    for handlers in '' often; do
        # shellcheck disable=SC2086  # none is no argument
        nice -n 19 ./$program $program.ready$handlers $handlers &
        awaits is_there $program.ready$handlers
        check $!
        untouched $! RS
        kill -STOP $!
        awaits is_in $! T
        [[ $(counts $!) == "$(counts $!)" ]] || fail "a stopped process counts"
        untouched $! T
        kill -KILL $!
    done
done

# ---- errors ----

./spin ready &
running=$!
awaits is_there ready
cat >tracer.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>
int main(int argc, char **argv) {
    (void)argc;
    if (ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0))
        return 1;
    puts("traced");
    fflush(stdout);
    pause();
}
END
gcc -D_GNU_SOURCE tracer.c -o tracer || fail "cannot build tracer.c"
for thread in /proc/$running/task/*; do :; done
refuses "process ${thread##*/}: it is a thread of process $running" -- quipu stat --pid="${thread##*/}"
./tracer "${thread##*/}" >traced &
awaits is_there traced
refuses "process $running: it cannot be stopped for a moment" -- quipu stat --pid=$running
kill -KILL $!
wait $! 2>/dev/null
quipu stat --pid=$running >output || fail "it cannot be looked at again"
untouched $running R

sleep 1000 &
refuses "process $!: it is not instrumented" -- quipu stat --pid=$!
kill $!
wait $! 2>/dev/null
refuses "process $!: there is none" -- quipu stat --pid=$!
for number in 0 -1 x '' 12x 99999999999; do
    refuses "'$number': give the number of a process" -- quipu stat --pid="$number"
done
refuses "leave out data and program" -- quipu stat --pid=$running ./spin
refuses "leave out --pid" -- quipu stat --pid=$running --baseline=counts.json
cp spin_static new && mv new spin # the process goes on with the build that it has
refuses "its counts are of another build of '$PWD/spin'" -- quipu stat --pid=$running
kill -KILL $running
quipu cc -O2 -pthread spin.c -o count || fail "cannot build count"
./count ready.count &
awaits is_there ready.count
refuses "process $!: it counts no events" -- quipu stat --pid=$!
