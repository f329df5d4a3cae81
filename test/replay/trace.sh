#!/bin/bash
# quipu trace of a recording: of a run that repeats itself, record by record what a direct trace has; a fork; a timer's
# handler; threads that race, in the order of the recording; builds and recordings that cannot be traced.
# timeout: 60
. "$(dirname "$0")/lib.bash"
setarch -R true 2>/dev/null || {
    echo "skipped: address randomization cannot be turned off"
    exit 77
}

# shown FILE: what it has, without the numbers of processes.
shown() {
    quipu print "$1" | sed 's/^process.*/process/'
}

# same STATUS COMMAND...: its direct trace is that of its recording. Both runs have the same stack: their
# environments are of one size.
same() {
    local status=$1
    shift
    ends "$status" env -i PATH="$PATH" setarch -R quipu trace "${options[@]}" -o direct.trace -- "$@"
    mv output direct.out
    ends "$status" env -i PATH="$PATH" QUIPU_TRACF=/dev/shm/quipu-trace.XXXXXX quipu record -o run.rec -- "$@"
    ends "$status" quipu trace "${options[@]}" -o run.trace run.rec
    cmp direct.out output || fail "'$*': other output"
    shown direct.trace >direct
    shown run.trace >recorded
    cmp direct recorded || fail "'$*': another trace: $(diff direct recorded | head -5)"
    grep -q '+0x0 ' direct || fail "'$*': no trace"
}

make_program traced --quipu=moment,trace -O2 -g -pthread <"$here/parts/traced.c"
options=(--level=3)
same 0 ./traced
[[ $(grep -c '^process' recorded) -eq 2 ]] || fail "not two processes"
[[ $(grep -c ' handle+0x0 ' recorded) -eq 1 ]] || fail "not one signal handler"
options=(--every=1/2)
same 0 ./traced

# Shared objects, one of which is loaded twice.
cat >object.c <<'C'
#include <stdlib.h>
static int calls;
__attribute__((constructor)) static void begin(void) { calls++; }
int compute(int count) {
    int *values = malloc((unsigned)count * sizeof *values), sum = calls;
    for (int i = 0; i < count; i++)
        values[i] = i * 3, sum += values[i] ^ sum;
    free(values);
    return sum;
}
C
for name in linked loaded; do
    quipu cc --quipu=moment,trace -O2 -g -fPIC -shared object.c -o lib$name.so || fail "no lib$name.so"
done
cat >user.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int compute(int count);
int main(void) {
    int sum = compute(9);
    for (int i = 0; i < 2; i++) {
        void *object = dlopen("./libloaded.so", RTLD_NOW);
        int (*other)(int) = (int (*)(int))dlsym(object, "compute");
        sum += other(7);
        dlclose(object);
    }
    printf("%d\n", sum);
    return 3;
}
C
quipu cc --quipu=moment,trace -O2 -g user.c -o user -L. -llinked "-Wl,-rpath,$PWD" -ldl || fail "no user"
options=()
same 3 ./user
[[ $(grep -c ' compute+0x0 ' recorded) -eq 3 && $(grep -c ' begin+0x0 ' recorded) -eq 3 ]] ||
    fail "not all calls of the shared objects"
options=(--every=1/2)

# moment NUMBER: that of an instruction of the whole trace, in the middle of the sort.
moment() {
    quipu print --moments run.trace | grep ' compare+' | sed -n "$1{p;q}" | cut -d' ' -f1
}
options=()
same 0 ./traced
options=("--from=$(moment 50)" "--to=$(moment 9000)")
same 0 ./traced
[[ $(wc -l <recorded) -lt 30000 ]] || fail "${options[*]}: too much: $(wc -l <recorded) lines"

# A handler is in the trace as often as the program says.
ends 0 quipu record -o run.rec -- ./traced alarms
ends 0 quipu trace -o run.trace run.rec
[[ $(quipu print run.trace | grep -c ' handle+0x0 ') -eq $(cat output) ]] ||
    fail "the program has handled $(cat output) signals, and the trace has another number"

# Threads: the accesses to the sum, in the trace's order, lead to what each thread has read.
for _ in {1..20}; do # up to a run whose threads were preempted; most are
    ends 0 quipu record -o run.rec -- ./traced threads
    mv output recorded.out
    ends 0 quipu trace -o run.trace run.rec
    cmp recorded.out output || fail "threads: other output"
    ends 0 quipu info run.trace
    ! grep -q ' [1-9][0-9]* preempted' output || break
done
grep -q 'schedule  *of the recording: .* [1-9][0-9]* preempted' output || fail "threads were not preempted: $(cat output)"
! grep -q 'may have been earlier' output || fail "the order is not exact: $(cat output)"
address=$(nm traced | awk '$3 == "sum" { print $1 }')
quipu print --order=global run.trace |
    awk -v "sum=$(printf %x $((0x555555554000 + 0x$address)))" '
        /^process/ { thread = $4 }
        / (change|main)\+/ { changes = / change\+/ }
        $1 == "R" && $2 == sum && changes {
            if (!(thread in number))
                number[thread] = threads++
            seen[number[thread]] = seen[number[thread]] number[thread] " " (value + 0) "\n"
            own[thread] = value
        }
        $1 == "W" && $2 == sum { value = own[thread] + 1 }
        END {
            print value
            for (i = 0; i < threads; i++)
                printf "%s", seen[i]
        }' >ordered
cmp recorded.out ordered || fail "threads: the order is another one: $(diff recorded.out ordered | head -5)"

# From a moment of a thread by its recorded name: 1:1 is the first one that the first thread has made.
wanted=$(quipu print --moments run.trace | sed -n '/^change+.*\/2~/{p;q}')
ends 0 quipu trace --from="${wanted%%/*}/1:1" -o part.trace run.rec
[[ $(quipu print --moments part.trace | sed -n '2{p;q}') == "${wanted%%/*}/"* ]] ||
    fail "1:1: it does not begin at ${wanted%%/*}"
refuses "in a system call" -- quipu trace --from='main+0x1@1#2/1' -o part.trace run.rec

# Random turns end between two instructions.
ends 0 quipu record --shuffle -o run.rec -- ./traced threads
mv output recorded.out
ends 0 quipu trace -o run.trace run.rec
cmp recorded.out output || fail "random turns: other output"

# What cannot be traced.
make_program plain --quipu=moment -O2 -g -pthread <"$here/parts/traced.c"
ends 0 quipu record -o run.rec -- ./plain
refuses "has no code that records" -- quipu trace -o run.trace run.rec
refuses "not for recordings" -- quipu trace --schedule -o run.trace run.rec
make_program loops --quipu=moment,trace -O2 -g -pthread <"$here/parts/loops.c"
ends 5 quipu record -o run.rec -- ./loops
ends 1 quipu trace -o run.trace run.rec
grep -q "waits in a loop" messages || fail "loops that wait are not refused: $(cat messages)"
