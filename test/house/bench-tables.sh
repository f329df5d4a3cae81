#!/bin/bash
# bench/run makes its tables of measured times: the paper's table, queries, watched memory, goals.
set -u
bench=$(dirname "$0")/../../bench/run
status=0

# $1: seconds of --quipu=event in the query; the rest is the same in all.
write_results() {
    python3 - "$1" >results.json <<'END'
import json
import sys

def program(name, kind, seconds, failed=()):
    return {'name': name, 'kind': kind, 'title': name, 'small': {}, 'compile': {}, 'file': {},
            'loaded': {}, 'seconds': {variant: [time] * 3 for variant, time in seconds.items()},
            'failed': {variant: 'it ended' for variant in failed}}

print(json.dumps({
    'machine': {}, 'runs': 3, 'builds': 1, 'notes': [],
    'variants': ['twin', 'gcc', 'reserved', 'event', 'moment', 'twin clock', 'watch 1'],
    'programs': [
        program('fibonacci', 'kernel', {'twin': 1, 'gcc': 2, 'reserved': 2.1, 'moment': 2.06,
                                        'event': 1}),
        program('grep-range', 'paper', {'twin': 2, 'gcc': 2, 'moment': 2.2}),
        program('grep-fixed', 'paper', {'twin': 2, 'gcc': 2, 'reserved': 2, 'moment': 1.98}),
        program('sieve', 'kernel', {'twin': 1, 'gcc': 1, 'moment': 1}),
        program('quipu_events', 'query', {'twin': 0.1, 'event': float(sys.argv[1])}),
        dict(program('bzip2', 'program', {'twin': 1, 'gcc': 1, 'twin clock': 2, 'watch 1': 2.2}),
             elimination={'stores': 2000000, 'kinds': {
                 'variable': [1, 200000], 'stack': [2, 400000], 'push': [3, 600000],
                 'checked': [2, 500000], 'unarmed': [1, 100000], 'invariant': [1, 20000],
                 'monotonic': [1, 80000]}}),
    ],
    'probes': [
        {'name': 'log', 'table': 'service', 'title': 'log', 'how': '', 'values': {'log': [800] * 3},
         'failed': ''},
        {'name': 'turns', 'table': 'peers', 'title': 'nothing', 'how': './turns',
         'values': {'miss': [2] * 3}, 'failed': ''},
        {'name': 'vgdb', 'table': 'peers', 'title': 'vgdb', 'how': 'valgrind',
         'values': {'miss': [10], 'hit': [4000], 'told': [0.5]}, 'failed': ''},
    ]}))
END
}

# One row of the tables, blanks taken together.
expect() {
    grep -qxF -- "$1" < <(tr -s ' ' <tables) || {
        echo "no row '$1' in:"
        cat tables
        status=1
    }
}

write_results 0.3
"$bench" --from results.json >tables || status=1
expect 'recursive Fibonacci fibonacci 2.00 5.0% 3.0% 0.0% 3.7%'
expect "grep '[a-z]+Z' grep-range 2.00 10.0% 0.3% 12%"
expect "grep 'ZZZ' grep-fixed 2.00 0.0% -1.0% -1.6% 1%"
expect 'geometric mean 2.5% 3.9% -0.4% 5.6%'
expect 'quipu_events 10.0'
expect 'quipu_events from C, nanoseconds 10.000 20 yes'
expect 'watch, one region: real programs, run time, geometric mean 1.100 1.05 no'
expect 'bzip2 2.0 10.0% 20.0% 30.0% 5.0% 1.0% 4.0% 70.0% 30.0% 5.0% 11 54.5% 3'
expect 'a hit in a file (1000: a million a second) 800.0 1,250,000'
expect 'vgdb 10.00 5.0 4,000 50% valgrind'
expect 'moment: worst kernel, run time 2.060 1.15 no'
if grep '^grep-range' tables; then
    echo 'a workload of the paper alone is in the table of run times'
    status=1
fi

write_results 0.6
"$bench" --from results.json >tables
expect 'quipu_events from C, nanoseconds 25.0 20 no'
"$bench" --from results.json --check >/dev/null && {
    echo 'a goal is missed, and --check is content'
    status=1
}
exit $status
