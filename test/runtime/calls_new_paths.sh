#!/bin/bash
# Many thousand call sites in one function, while signal handlers with as many take paths that are new, too: no
# call is lost, and each call site has its node.
. "$(dirname "$0")/../bad/lib.bash"
sites=6000
{
    echo '#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#define AGAIN(x) x x x x x x x x x x
static volatile sig_atomic_t handled, mains;
__attribute__((noipa)) void leaf(void) { mains++; }
__attribute__((noipa)) void handled_leaf(void) { handled++; }'
    for ((part = 0; part < 20; part++)); do
        echo "__attribute__((noipa)) void main_part_$part(void) {"
        for ((i = 0; i < sites / 20; i++)); do echo 'leaf();'; done
        echo "}
__attribute__((noipa)) void handler_part_$part(void) {"
        for ((i = 0; i < 30; i++)); do echo 'handled_leaf();'; done
        echo '}'
    done
    echo 'static void handle(int signal) {
    static unsigned next;
    (void)signal;
    switch (next++ % 20) {'
    for ((part = 0; part < 20; part++)); do echo "case $part: handler_part_$part(); break;"; done
    echo '}
}
int main(void) {
    const struct itimerval soon = {{0, 30}, {0, 30}}, never = {{0}, {0}};
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &soon, NULL);'
    for ((part = 0; part < 20; part++)); do echo "main_part_$part();"; done
    echo '
    while (handled < 3000)
        leaf();
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d %d\n", (int)mains, (int)handled);
    return 0;
}'
} >program.c
ends 0 quipu cc -O1 --quipu=count,calls program.c -o program
for ((try = 0; try < 5; try++)); do
    rm -rf quipu.data
    ends 0 ./program
    read -r mains handled <output
    ends 0 quipu report --by=function --format=csv quipu.data
    [[ ! -s messages ]] || fail "the report says: $(cat messages)"
    grep -q "^leaf,[^,]*,[^,]*,$mains," output || fail "leaf is called $mains times: $(grep leaf output)"
    grep -q "^handled_leaf,[^,]*,[^,]*,$handled," output || fail "$handled times: $(grep leaf output)"
    ends 0 quipu report --by=callsite --format=csv quipu.data
    python3 - "$mains" "$handled" <<'EOT' || fail "call sites: $(head -n 3 output)"
import csv, sys
rows = list(csv.DictReader(open('output')))
for name, wanted in ('leaf', int(sys.argv[1])), ('handled_leaf', int(sys.argv[2])):
    of_it = [int(row['calls']) for row in rows if row.get('callee', row.get('function')) == name]
    if sum(of_it) != wanted:
        sys.exit(f'{name}: {len(of_it)} sites, {sum(of_it)} calls, not {wanted}: {rows[0].keys()}')
EOT
done
