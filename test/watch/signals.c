// Handlers that write while the interrupted code writes, return, or leave by longjmp; they come from
// raise, from faults and traps, within a library's function, and run on a stack of their own.
// unfiltered
// watch: table = table:64
// watch: table.inner = table+20:24
// watch: handled = handled:4
// watch: escapes = escapes:4
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -static
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct {
    char head[20];
    int inner[6];
    char tail[20];
} table;
volatile int handled, escapes;
static sigjmp_buf out;
static int *volatile nowhere;
static char stack[65536];

static void on_signal(int number) {
    handled++;
    table.inner[handled % 6] += number;
    memset(table.tail, handled, sizeof table.tail);
}

static void on_nested(int number) {
    table.inner[0] = number;
    raise(SIGUSR1);
    table.inner[1] = number;
}

static void on_fault(int number) {
    escapes += number;
    table.head[3]++;
    siglongjmp(out, escapes);
}

static int compare(const void *left, const void *right) {
    table.inner[5]++;
    if (table.inner[5] % 4 == 0)
        raise(SIGUSR1);
    return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) static void fault(int n) {
    if (sigsetjmp(out, 1) == 0) {
        table.head[n] = (char)n;
        *nowhere = n; // faults
        table.head[n] = -1;
    }
    table.head[n + 1] += (char)n;
}

__attribute__((noinline)) static void illegal(int n) {
    if (sigsetjmp(out, 1) == 0) {
        table.inner[n] = n + 50;
        __asm__ volatile("ud2");
    }
    table.inner[n]++;
}

__attribute__((noinline)) static void divide(volatile int *by) {
    if (sigsetjmp(out, 1) == 0)
        table.inner[2] = 1000 / *by;
    table.inner[2] += 7;
}

static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

int main(void) {
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    handle(SIGUSR1, on_signal, SA_ONSTACK);
    handle(SIGUSR2, on_nested, 0);
    handle(SIGSEGV, on_fault, SA_ONSTACK);
    handle(SIGILL, on_fault, 0);
    handle(SIGFPE, on_fault, 0);
    for (int i = 1; i < 5; i++) {
        memset(table.head + 8, i, 9);
        raise(SIGUSR1);
        table.inner[i]--;
        raise(SIGUSR2);
        fault(i);
        illegal(i);
        volatile int zero = i - 3;
        divide(&zero);
    }
    int numbers[] = {5, 1, 4, 2, 3};
    qsort(numbers, 5, sizeof *numbers, compare);
    printf("%d %d %d\n", handled, escapes, numbers[2]);
    return 0;
}
