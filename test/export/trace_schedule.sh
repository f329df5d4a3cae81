#!/bin/bash
# trace_schedule.sh: quipu trace --schedule, and the one order that the processes of a run had on one
# processor. Programs tell the order themselves: a client and a server hand each other the turn, and two
# processes that are preempted anywhere count in memory that they share, so that each address tells what
# the other one had stored just before.
. "$(dirname "$0")/lib.bash"
needs python3

cat >turns.c <<'C'
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { ROUNDS = 400, SIZE = 1024 };
static unsigned char *elements;
static char own[SIZE] __attribute__((aligned(SIZE)));
static int ends[2][2];
__attribute__((noinline)) static void mark(unsigned number) {
    elements[number] = 1;
}
/* Fills a cache of SIZE bytes with what is the process's own. */
__attribute__((noinline)) static void fill(void) {
    for (unsigned i = 0; i < SIZE; i += 64)
        *(volatile char *)&own[i] = 1;
}
static void serve(int number) {
    unsigned now;
    while (read(ends[number][0], &now, sizeof now) == sizeof now && now < ROUNDS) {
        mark(now++);
        fill();
        (void)!write(ends[!number][1], &now, sizeof now);
    }
    (void)!write(ends[!number][1], &now, sizeof now);
}
int main(void) {
    unsigned zero = 0;
    elements = mmap(NULL, ROUNDS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pipe(ends[0]) != 0 || pipe(ends[1]) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            serve(i);
            exit(0);
        }
    (void)!write(ends[0][1], &zero, sizeof zero);
    wait(NULL);
    wait(NULL);
    return 0;
}
C
cat >preempted.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { ROUNDS = 40000 };
static struct {
    volatile unsigned next;
    volatile unsigned char elements[2 * ROUNDS];
} *shared;
__attribute__((noinline)) static void take(void) {
    unsigned own = shared->next; /* not atomic: what the other one does here is lost */
    shared->elements[own] = 1;
    shared->next = own + 1;
}
__attribute__((noinline)) static void work(unsigned count) {
    static volatile unsigned sums[16];
    for (unsigned i = 0; i < count % 11; i++)
        sums[i] += i;
}
int main(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    printf("%lu\n", (unsigned long)shared);
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            for (unsigned n = 0; n < ROUNDS; n++) {
                take();
                work(n);
            }
            _exit(0);
        }
    pid_t third = fork(); /* it wakes up again and again, and so preempts the others anywhere */
    while (third == 0)
        usleep(150);
    wait(NULL);
    wait(NULL);
    kill(third, SIGKILL);
    wait(NULL);
    return 0;
}
C
cat >deny.c <<'C'
/* deny COMMAND...: runs it without perf_event_open. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    execvp(argv[1], argv + 1);
    return 76;
}
C
# check_turns.py: the elements that function mark writes rise by one.
cat >check_turns.py <<'PYTHON'
import csv
rows = [row for row in csv.DictReader(open('rows.csv', newline='')) if not row['access'].startswith('switch')]
writes = [int(row['data_address']) for row in rows if row['access'] == 'write' and row['data_size'] == '1']
print(len(writes), sum(b != a + 1 for a, b in zip(writes, writes[1:])))
PYTHON
# check_preempted.py: what a process loads is what was stored last, up to the instruction. A switch that
# is not exact is placed as late as it may have been. So up to there the process may have loaded what
# is listed later. Behind it the others may go on at another element, and again when the process has
# gone on where it was.
cat >check_preempted.py <<'PYTHON'
import csv
base, last, own, allowed = int(open('base').read()), 0, {}, {}
writes = wrong = of_turn = exact = preempted = inexact = 0
for row in csv.DictReader(open('rows.csv', newline='')):
    process = row['process']
    if row['access'].startswith('switch'):
        if row['sure'] == '0':
            inexact += 1
            allowed = {other: allowed.get(other, 0) + 2 for other in own}
        else:
            exact += 1
            preempted += row['access'] == 'switch preempted'
            wrong += of_turn
        of_turn = 0
        continue
    address = int(row['data_address'] or 0) - base
    if not 0 <= address < 80004:
        continue
    if row['access'] == 'read':
        own[process] = last
    elif address >= 4:
        writes += 1
        if address - 4 != own[process]:
            if allowed.get(process):
                allowed[process] -= 1
            else:
                of_turn += 1
            own[process] = address - 4
    else:
        last = own[process] + 1
print(writes, wrong + of_turn, exact, preempted, inexact)
PYTHON

record() {
    "$@" "$quipu" trace --schedule -o t -- "./$program" >base || fail "$program: cannot record: $*"
    "$quipu" info --format=json t >info.json || fail "$program: no information"
    read -r source switches inexact < <(python3 - <<'PYTHON'
import json
schedule = json.load(open('info.json'))['traces'][0]['schedule']
print(schedule['source'], schedule['switches'], schedule['inexact'])
PYTHON
    )
}

list_rows() {
    "$quipu" print --no-pager --format=csv "$@" t >rows.csv || fail "$program: cannot print"
}

# check_client_server: the processes of ./turns take turns.
check_client_server() {
    list_rows --order=schedule --function=mark
    read -r marks wrong < <(python3 check_turns.py)
    [ "$marks $wrong" = '400 0' ] || fail "$source: $marks writes, $wrong out of order"
}

gcc deny.c -o deny || fail "cannot build 'deny'"
for level in -O0 -O2; do
    program=turns
    "$quipu" cc --quipu=trace $level -g turns.c -o turns || fail "cannot build"
    record ./deny
    [ "$source" = tickets ] || fail "without events the schedule is by $source"
    [ "$switches" = 0 ] || fail "without events there are $switches switches"
    check_client_server
    list_rows --order=thread --function=mark
    read -r marks wrong < <(python3 check_turns.py)
    [ "$wrong" -gt 300 ] || fail "thread by thread the order is right, too: $wrong"
    record env
    check_client_server
done

# All processes share the processor's cache: each one empties it for the other one.
misses() {
    "$quipu" cache --l1d=1K,1,64 --by=function --format=csv "$@" t >cache.csv || fail "no misses"
    python3 - <<'PYTHON'
import csv
print(*[row['l1d_write_misses'] for row in csv.DictReader(open('cache.csv', newline='')) if row['function'] == 'fill'])
PYTHON
}
shared=$(misses --processors=1) apart=$(misses)
[ "$shared" = $((400 * 16)) ] || fail "fill misses $shared times on the one processor"
[ "$apart" -lt 3200 ] || fail "fill misses $apart times, process by process"

# The same rows in each order, but for switches. The switches are as many as 'quipu info' says.
for order in thread schedule; do
    list_rows --order=$order
    tr -d '\r' <rows.csv | cut -d, -f1-13 | grep -v ',switch ' | sort >rows.$order
done
[ "$(grep -c ',switch ' rows.csv)" = "$switches" ] || fail "not $switches switches"
cmp rows.thread rows.schedule || fail "the orders have different rows"
list_rows --order=global
! grep -q ',switch ' rows.csv || fail "--order=global tells of switches"
"$quipu" print --no-pager --format=json --order=schedule t >rows.json || fail "no JSON"
[ "$(python3 -c 'import json; print(sum("switch" in json.loads(line) for line in open("rows.json")))')" = "$switches" ] ||
    fail "not $switches switches in JSON"
"$quipu" print --no-pager --order=schedule t >rows.txt || fail "no text"
[ "$(grep -c '^-- switch: process [0-9]* thread [0-9]* \(blocked\|preempted\|ended\)' rows.txt)" = "$switches" ] ||
    fail "not $switches switches in text"

# With moments, too, each row has the columns of the heading, and each instruction its moment.
"$quipu" cc --quipu=moment,trace -O1 -g turns.c -o turns_moments || fail "cannot build with moments"
"$quipu" trace --schedule -o moments -- ./turns_moments || fail "cannot record with moments"
"$quipu" print --no-pager --format=csv --moments --asm --order=schedule moments >rows.csv || fail "no CSV with moments"
switches=$("$quipu" info --format=json moments | python3 -c 'import json, sys
print(json.load(sys.stdin)["traces"][0]["schedule"]["switches"])')
python3 - "$switches" <<'PYTHON' || fail "CSV with moments"
import csv, sys
rows = list(csv.reader(open('rows.csv', newline='')))
assert rows[0] == ('process,thread,moment,address,size,function,offset,file,line,assembly,reference,access,'
                   'data_address,data_size,sure,ordered').split(','), rows[0]
switches = instructions = 0
for row in rows[1:]:
    assert len(row) == len(rows[0]), row
    row = dict(zip(rows[0], row))
    if row['access'].startswith('switch '):
        switches += 1
        assert not row['moment'] and not row['address'] and not row['ordered'], row
        assert row['data_size'].isdigit() and row['sure'] in '01', row
    elif row['address']:
        instructions += 1
        assert '@' in row['moment'] and row['assembly'] and row['ordered'] in '01', row
assert switches == int(sys.argv[1]) and instructions > 1000, (switches, instructions)
PYTHON

# Mistakes.
"$quipu" trace -o plain -- ./turns || fail "cannot record"
expect_error 1 "'plain' has no schedule" "$quipu" print --order=schedule plain
expect_error 1 "--processor=4000: quipu may not use it" "$quipu" trace --schedule --processor=4000 -- ./turns
expect_error 1 "--processor needs --schedule" "$quipu" trace --processor=0 -- ./turns
expect_error 1 "--schedule is for a program that quipu starts" "$quipu" trace --schedule --pid=$$
"$quipu" trace --schedule --processor=0 -o t -- ./turns || fail "cannot record on processor 0"
grep -q 'schedule  *on processor 0, by ' < <("$quipu" info t) || fail "it is not on processor 0"

# Corrupt blocks of the schedule.
"$quipu" trace --schedule --level=0 -o t -- ./turns || fail "cannot record"
cat >change.py <<'PYTHON'
import random, struct
whole = open('t', 'rb').read()
BLOCK, SCHEDULE, TIMES = 112, 6, 7
blocks, at = [], 16
while at < len(whole):
    stored, _, _, kind = struct.unpack_from('<4I', whole, at)
    if kind in (SCHEDULE, TIMES) and stored:
        blocks.append((at, stored))
    at += BLOCK + stored
for seed in range(60):
    chance = random.Random(seed)
    data = bytearray(whole)
    for _ in range(chance.choice([1, 2, 40])):
        block, size = chance.choice(blocks)
        at = block + BLOCK + chance.randrange(size) if chance.randrange(4) else block + chance.randrange(BLOCK)
        data[at] = chance.choice([0, 1, 255, chance.randrange(256)])
    open(f'changed.{seed}', 'wb').write(data)
PYTHON
python3 change.py || fail "cannot change it"
for file in changed.*; do
    status=0
    timeout 60 "$quipu" print --order=schedule -o out.gz "$file" 2>messages || status=$?
    [ $status = 0 ] || [ "$status $(grep -c '^quipu: error: ' messages)" = "1 1" ] ||
        fail "$file: status $status: $(head -c 1000 messages)"
done

# ---- what needs registers ----
program=preempted
[ "$source" = registers ] || {
    echo "skipped: the kernel shows no registers at switches, but only $source"
    exit 77
}
for level in -O0 -O2; do
    "$quipu" cc --quipu=trace $level -g preempted.c -o preempted || fail "cannot build"
    exacts=0 preempts=0 inexacts=0
    for _ in 1 2 3 4 5 6; do # where the kernel preempts a process depends on what else runs
        record env
        list_rows --order=schedule --function=take
        read -r writes wrong exact preempted inexact < <(python3 check_preempted.py)
        [ "$writes $wrong" = '80000 0' ] || fail "$level: $wrong of $writes elements are out of order"
        exacts=$((exacts + exact)) preempts=$((preempts + preempted)) inexacts=$((inexacts + inexact))
        [ "$preempts" -lt 3 ] || [ "$inexacts" -gt "$exacts" ] || break
    done
    [ "$preempts" -ge 3 ] || fail "$level: only $preempts exact switches preempt a process"
    [ "$inexacts" -le "$exacts" ] || fail "$level: $inexacts switches are not exact, $exacts are"
done
