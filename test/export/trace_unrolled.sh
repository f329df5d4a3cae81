#!/bin/bash
# trace_unrolled.sh: in a build with moments and traces, small loops are unrolled while nothing is recorded, and
# have the same ticks and the same moments as the loop that is recorded. A recording has each iteration, from the
# begin of a program on, and from any point of a loop that runs already.
# timeout: 300
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#define OWN __attribute__((noinline)) static
static unsigned char bytes[4096];
static volatile unsigned stop;
OWN void set(unsigned from, unsigned step) {
    for (unsigned i = from; i < sizeof bytes; i += step)
        bytes[i] = (unsigned char)step;
}
OWN unsigned find(unsigned char byte, unsigned at) {
    while (at < sizeof bytes && bytes[at] != byte)
        at++;
    return at;
}
OWN unsigned sum(unsigned n) {
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++) {
        if (bytes[i] & 1)
            bytes[i]++;
        total += bytes[i];
    }
    return total;
}
OWN unsigned long spin(void) {
    unsigned long turns = 0;
    do
        bytes[++turns % sizeof bytes] = 1;
    while (!stop);
    return turns;
}
static void *work(void *unused) {
    (void)unused;
    unsigned long before = quipu_now().ticks, turns = spin();
    printf("%ld\n", (long)(quipu_now().ticks - before - turns));
    return NULL;
}
int main(int argc, char **argv) {
    (void)argv;
    pthread_t thread;
    if (argc > 1) {
        pthread_create(&thread, NULL, work, NULL);
        puts("runs");
        fflush(stdout);
        while (!access("run", F_OK))
            usleep(1000);
        stop = 1;
        return pthread_join(thread, NULL);
    }
    unsigned x = 0;
    for (unsigned round = 1; round < 40; round++) {
        set(round, round);
        x += find((unsigned char)round, round / 2) + find(200, 4000) + sum(100 + round);
    }
    printf("%u %llu\n", x, (unsigned long long)quipu_now().ticks);
    return 0;
}
C
for mode in moment moment,trace trace; do
    mkdir $mode
    "$quipu" cc --quipu=$mode -O2 -g -ffixed-r11 -pthread -I"$root/include" program.c -o $mode/program ||
        fail "$mode: cannot build"
done
for mode in moment moment,trace; do
    (cd $mode && ./program >out) || fail "$mode: status $?"
done
cmp moment/out moment,trace/out || fail "other ticks than with moments alone"
cd moment,trace || fail "its directory is not there"

# The same instructions and references as in a build for traces alone, and the same ticks as without a recording.
"$quipu" trace -o own.trace -- ./program >recorded || fail "cannot record"
cmp out recorded || fail "other ticks while it is recorded"
(cd ../trace && "$quipu" trace -o own.trace -- ./program >out) || fail "cannot record the other build"
for build in . ../trace; do
    "$quipu" print --format=csv $build/own.trace | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["access"] !~ /^gap/ && $column["reference"] <= 1 && $column["function"] ~ /^(set|find|sum)/ {
            print $column["function"], $column["offset"], $column["access"]
        }' >$build/rows
done
[ "$(wc -l <rows)" -gt 50000 ] || fail "the loops are not in the trace: $(wc -l <rows) rows"
cmp -s rows ../trace/rows || fail "other instructions than in the other build: $(diff rows ../trace/rows | head)"

# A moment in a loop has one name. It is at another instruction while nothing is recorded: that of the unrolled loop.
"$quipu" print --moments --function=set own.trace | awk '$1 ~ /@/ { print $1 }' >names
for line in 200 2003 -7; do
    name=$([ $line -gt 0 ] && sed -n "${line}p" names || tail -n "${line#-}" names | head -n 1)
    "$quipu" goto --print "$name" -- ./program >gone 2>&1 || fail "goto $name: $(cat gone)"
    "$quipu" trace -o goto.trace -- "$quipu" goto --print "$name" -- ./program >gone.recorded 2>&1 ||
        fail "goto $name: $(cat gone.recorded)"
    for output in gone gone.recorded; do
        grep -F "$name" $output >/dev/null || fail "$output: not at $name: $(cat $output)"
        awk '$1 == "rip" { print $2 }' $output >$output.rip
        [ -s $output.rip ] || fail "no address of the instruction: $(cat $output)"
    done
    ! cmp -s gone.rip gone.recorded.rip || fail "$name: the loop is not unrolled"
done
"$quipu" when 'bytes[4095] == 39' -- ./program >when 2>&1 || fail "when: $(cat when)"
moment=$(awk '$1 == "moment" { print $2 }' when)
grep -F "$moment" names >/dev/null || fail "when: the trace has no moment $moment"
"$quipu" trace --from="$moment" -o from.trace -- ./program >/dev/null 2>messages || fail "--from: $(cat messages)"
"$quipu" print --moments from.trace | awk '$1 ~ /@/ && !count++ { print $1 }' >first
grep -F "$moment" first >/dev/null || fail "--from=$moment: the trace begins at $(cat first)"

# A loop that runs already is recorded from some iteration on, and has lost no tick behind its end.
for build in plain pid; do
    touch run
    ./program spin >$build.out &
    program=$!
    trap 'rm -f run; wait' EXIT
    until grep runs $build.out >/dev/null; do sleep 0.05; done
    if [ $build = pid ]; then
        "$quipu" trace --pid=$program --first=400000 --seconds=20 -o pid.trace >got 2>&1 || fail "--pid: $(cat got)"
    fi
    rm run
    wait $program || fail "$build: status $?"
done
cmp plain.out pid.out || fail "--pid: other ticks: $(cat plain.out pid.out)"
"$quipu" print --format=csv --moments --function=spin pid.trace >rows || fail "--pid: nothing to print"
awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $column["access"] == "write" {
        split($column["moment"], name, /[@\/]/)
        address = $column["data_address"]
        if (count++ && ticks + 1 != name[2]) { print "ticks " ticks ", then " name[2]; exit }
        if (count > 1 && address != before + 1 && address != before - 4095) {
            print "address " before ", then " address
            exit
        }
        ticks = name[2]
        before = address
    }
    END { if (count < 50000) print count + 0 " iterations" }' rows >wrong
[ ! -s wrong ] || fail "--pid: $(cat wrong)"
