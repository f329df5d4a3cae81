#!/bin/bash
# What a run reads, draws and is told by the kernel is the same again where a part of it is repeated,
# and what it writes is written once: input, random numbers, the clock, files, memory, children,
# signals, errno.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
make_program program --quipu=moment -O1 -g <<'EOT'
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

unsigned long lines, drawn, mixed = 1, children, errors;
volatile unsigned long signals, faults;
long first_second = -1, nanoseconds;
char line[64];
static char *page;

static void on_alarm(int number) {
    (void)number;
    signals++;
}

static void on_fault(int number) {
    (void)number;
    faults++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static void mix(void) {
    for (int i = 0; i < 3000; i++)
        mixed = mixed * 6364136223846793005ul + (drawn + (unsigned long)nanoseconds);
}

static int read_line(void) {
    size_t length = 0;
    while (length < sizeof line - 1 && read(0, line + length, 1) == 1)
        if (line[length++] == '\n')
            break;
    line[length] = '\0';
    return length > 0;
}

static void call(void) {
    struct timespec now;
    unsigned char byte;
    clock_gettime(CLOCK_REALTIME, &now);
    if (first_second < 0)
        first_second = now.tv_sec;
    nanoseconds = now.tv_nsec;
    if (getrandom(&byte, 1, 0) == 1)
        drawn += byte;
    int file = open("/proc/self/stat", O_RDONLY);
    char text[200] = "";
    drawn += (unsigned long)read(file, text, sizeof text - 1);
    close(file);
    if (open("/nowhere/at/all", O_RDONLY) < 0)
        errors += (unsigned long)errno;
    char *memory = malloc(300000);
    memset(memory, (int)drawn, 300000);
    mixed += (unsigned char)memory[299999];
    free(memory);
}

static void spawn(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        mix();
        _exit(7);
    }
    waitpid(child, &status, 0);
    children += WEXITSTATUS(status) == 7;
}

int main(void) {
    struct itimerval often = {{0, 3000}, {0, 3000}};
    signal(SIGALRM, on_alarm);
    signal(SIGSEGV, on_fault);
    setitimer(ITIMER_REAL, &often, NULL);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (read_line()) {
        call();
        mix();
        if (lines % 40 == 7)
            spawn();
        if (lines % 50 == 9) {
            mprotect(page, 4096, PROT_NONE);
            page[3] = 1;
        }
        if (write(1, line, strlen(line)) < 0)
            return 1;
        lines++;
    }
    return 0;
}
EOT
seq -f 'line %.0f' 400 >input
# holds TEXT...: each is in what was found, and what was written is the begin of the input.
holds() {
    local text
    grep -v '^line' output >found
    grep '^line' output >written
    cmp -s <(head -n "$(wc -l <written)" input) written || fail "$(head -3 found): written: $(cat written)"
    for text; do
        grep -qF -- "$text" found || fail "expected '$text': $(cat found messages)"
    done
}
when() {
    ends 0 quipu when "$@" -- ./program <input
}
for lines in 10 123 399; do
    when "lines == $lines"
    holds "becomes true" "main+" "lines        $((lines - 1)), then $lines"
    [[ $(wc -l <written) -ge $lines ]] || fail "only $(wc -l <written) lines"
done
when --exact 'lines > 250 && drawn % 3 == 1'
holds "becomes true"
when 'line[5] == 52 && line[6] == 52' # 44: the kernel writes it
holds "becomes true" "syscall"
when 'children == 5'
holds "then 5"
when 'faults == 3'
holds "on_fault" "then 3"
when 'signals >= 3'
holds "on_alarm"
ends 1 quipu when 'lines > 1000' -- ./program <input
holds
said "true at none of"
said "exit status 0"
[[ $(wc -l <written) -eq 400 ]] || fail "a run to the end wrote $(wc -l <written) lines"
running=$(grep -lz "^./program$" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
    [[ $(readlink "${file%cmdline}cwd") != "$PWD" ]] || echo "$file"; done)
[[ -z $running ]] || fail "left running: $running"
