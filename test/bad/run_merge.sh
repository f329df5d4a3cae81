#!/bin/bash
# 'quipu run --merge' adds up the data of processes as they end: the sum is exactly that of their files,
# few files are there at any time, and status, signals, and files of earlier runs are what they were.
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs python3
cat >program.c <<'EOT'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int work(int n) {
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(int argc, char **argv) {
    int children = argc > 1 ? atoi(argv[1]) : 0, status = argc > 2 ? atoi(argv[2]) : 0;
    for (int i = 0; i < children; i++) {
        if (fork() == 0) {
            work(100 + i);
            if (i % 7 == 3)
                execl(argv[0], argv[0], NULL);
            if (i % 7 == 5)
                kill(getpid(), SIGKILL);
            _exit(work(10) != 45);
        }
        if (i % 4 == 3)
            while (wait(NULL) > 0)
                ;
    }
    while (wait(NULL) > 0)
        ;
    if (argc > 3) {
        puts("waits");
        fflush(stdout);
        pause();
    }
    if (status < 0)
        raise(-status);
    return status;
}
EOT
quipu cc --quipu=count,calls -O1 -g program.c -o program || fail "cannot build"
# counts_of DATA: calls and instructions of each function
counts_of() {
    quipu report --by=function --format=csv "$@" | tr -d '\r' | cut -d, -f 1,4,5 | sort
}
files_of() {
    find "$1" -name '*.quipu' | wc -l
}
ends 3 quipu run -o apart ./program 300 3
ends 3 quipu run --merge -o together ./program 300 3
[[ $(files_of apart) -gt 300 ]] || fail "too few files: $(files_of apart)"
[[ $(ls together) == merged.quipu ]] || fail "left: $(ls together)"
cmp <(counts_of apart) <(counts_of together) || fail "other counts"
cmp <(quipu report --by=callsite --format=csv apart | cut -d, -f 1,5,9,10 | sort) \
    <(quipu report --by=callsite --format=csv together | cut -d, -f 1,5,9,10 | sort) || fail "other calls"

# Files of an earlier run stay, and a second run is added.
QUIPU_DATA=together ./program
earlier=$(basename "$(find together -name 'program.*.quipu')")
ends 0 quipu run --merge -o together ./program 20
[[ $(ls together) == "merged.quipu"$'\n'"$earlier" ]] || fail "left: $(ls together)"
QUIPU_DATA=apart ./program
quipu run -o apart ./program 20
cmp <(counts_of apart) <(counts_of together) || fail "other counts of two runs"

# Few files while the program runs; a signal for quipu reaches the program, and is its end.
quipu run --merge -o running ./program 200 0 wait >said &
quipu=$!
until grep -q waits said; do sleep 0.1; done
for _ in {1..100}; do
    [[ $(files_of running) -gt 10 ]] || break
    sleep 0.1
done
[[ $(files_of running) -le 10 ]] || fail "$(files_of running) files while the program runs"
kill -TERM $quipu
wait $quipu
[[ $? == 143 ]] || fail "it does not end by the program's signal"
[[ $(ls running) == merged.quipu ]] || fail "left: $(ls running)"
ends 139 quipu run --merge -o fault ./program 0 -11
ends 127 quipu run --merge -o none ./no_such_program
said "'./no_such_program': no such program"

# What cannot be added stays, with a message, and nothing else is lost.
cp program first
sed -i 's/sum += i/sum += 2 * i/' program.c
quipu cc --quipu=count,calls -O1 -g program.c -o second || fail "cannot build"
cat >both <<'EOT'
for i in 1 2 3 4; do
    cp first program && ./program 2
    rm program && cp second program && ./program 2
done
EOT
quipu run --merge -o mixed sh both 2>messages
grep -q "different builds of" messages || fail "no message of two builds: $(cat messages)"
[[ $(files_of mixed) -gt 1 ]] || fail "another build's files are gone: $(ls mixed)"
for build in first second; do
    sum=0
    cp $build program
    for file in mixed/*.quipu; do
        calls=$(quipu report --by=function --format=csv "$file" 2>/dev/null | awk -F, '$1 == "main" {print $4}')
        sum=$((sum + ${calls:-0}))
    done
    [[ $sum == 4 ]] || fail "$build: $sum calls of main, not 4"
done
