#!/bin/bash
# 'quipu when' runs on one processor with the program, which sees nothing of it: by its own calls, by
# the kernel's text about it, in what it starts; nor does who gets it, or a copy of it, at the moment.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
[[ $(nproc) -gt 1 ]] || exit 0
make_program program --quipu=moment -O1 -g <<'EOT2'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int count;
static void advance(void) {
    for (int i = 0; i < 1000; i++)
        count++;
}
static void print_status(const char *when) {
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Cpus_allowed:", 13) == 0)
            printf("%s: %s", when, line);
    if (file)
        fclose(file);
}
static void print_own(const char *when) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        printf("%s: %d processors\n", when, CPU_COUNT(&set));
    fflush(stdout);
}
int main(int argc, char **argv) {
    advance();
    print_own("first");
    if (fork() == 0) {
        print_own("child");
        print_status("child");
        return 0;
    }
    wait(NULL);
    if (system("grep Cpus_allowed: /proc/self/status") != 0)
        return 1;
    if (argc > 1) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(atoi(argv[1]), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    print_own("second");
    advance();
    print_status("third");
    print_own("third");
    advance();
    return 0;
}
EOT2
last=$(python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
here=$(grep Cpus_allowed: /proc/self/status)
for argument in '' "$last"; do
    ./program $argument >plain || fail "status $?"
    ends 1 quipu when 'count == 5000' -- ./program $argument
    diff plain output >differences || fail "'$argument': $(cat differences)"
    for count in 1 700 1500 2500; do
        program=$here
        [[ $count -lt 1001 || -z $argument ]] || program=$(tail -n 2 plain | sed -n 's/^third: C/C/p')
        ends 0 quipu when --exec="grep -h Cpus_allowed: /proc/\$QUIPU_PID/status /proc/self/status" \
            "count == $count" -- ./program $argument
        tail -n 2 output >shown
        printf '%s\n' "$program" "$here" | diff - shown >differences ||
            fail "'$argument', $count: $(cat differences)"
    done
done
