#!/bin/bash
# stat.sh: 'quipu stat' of a program of two processes and three threads: rows, formats, status.
. "$(dirname "$0")/../bad/lib.bash"

make_program program --quipu=count,event --quipu-event=instructions --quipu-event=branches \
    -O2 -g -pthread <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sum;

static void *work(void *count) {
    for (long i = 0; i < *(long *)count; i++)
        sum += i;
    return 0;
}

int main(void) {
    long counts[2] = {3000, 500};
    pthread_t threads[2];
    if (fork() == 0) {
        work(&counts[1]);
        _exit(0);
    }
    wait(0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &counts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 3;
}
END

ends 3 quipu stat -- ./program
grep -q '^program: 2 processes, [34] threads$' messages || fail "heading: $(head -1 messages)"
[[ ! -s output ]] || fail "something went to standard output"
[[ $(grep -c ' instructions ' messages) -eq 2 ]] || fail "not a row for each process: $(cat messages)"
grep -q total messages && fail "a sum of unlike counts: $(cat messages)"
! ls -d "${TMPDIR:?}"/quipu-stat-* 2>/dev/null || fail "the data directory is left"

# Numbers of processes are decimal, and the same as in the data.
ends 3 quipu run -o data -- ./program
ends 0 quipu stat --data --human data
for file in data/*.quipu; do
    pid=${file%.quipu} pid=${pid##*.}
    grep -q instructions < <(awk -v pid="$pid" '$3 == pid' output) ||
        fail "process $pid is not shown: $(cat output)"
done
ends 0 quipu stat --data --by=thread data
[[ $(grep -c ' instructions ' output) -ge 3 ]] || fail "threads: $(cat output)"

# The sum by event is that of the processes, and the functions' instructions are the events.
for by in event process thread; do
    ends 0 quipu stat --data --by=$by --format=json -o $by.json data
done
ends 0 quipu stat --data --format=csv data
grep -q '^process,.*event,count' < <(head -1 output) || fail "CSV: $(head -1 output)"
python3 - <<'END' || fail "the formats do not agree"
import json
sums = []
for by in ('event', 'process', 'thread'):
    with open(by + '.json') as file:
        data = json.load(file)
    events = {}
    for row in data['events']:
        events[row['event']] = events.get(row['event'], 0) + row['count']
    sums.append(events)
    assert sum(f['instructions'] for f in data['functions']) == events['instructions'], events
assert sums[0] == sums[1] == sums[2] and sums[0]['branches'] > 4000, sums
END

# Merged data has no processes and no threads.
ends 0 quipu merge -o merged.quipu data
for by in event process thread; do
    ends 0 quipu stat --data --by=$by --format=json -o merged.json merged.quipu
    python3 - <<'END' || fail "merged data differs, by $by"
import json
first, second = (json.load(open(name))['events'] for name in ('event.json', 'merged.json'))
assert [r['count'] for r in first] == [r['count'] for r in second], (first, second)
END
done

ends 127 quipu stat -- ./missing
said "cannot run './missing'"
ends 1 quipu stat -- /bin/true
said "'/bin/true': it counted nothing"
refuses "no program to run" -- quipu stat
refuses "'--by=nonsense'" -- quipu stat --by=nonsense -- ./program
refuses "'--sort=nonsense'" -- quipu stat --data --sort=nonsense data
