// A timer's signals hit everywhere, red zones and live flags too; a sum over all must stay right.
// variants: -O0; -O2; -O3; clang -O2; -O2 -fPIC; -O2 -static
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static unsigned checks[8];

static void handler(int signal) {
    ticks++;
    for (int i = 0; i < 8; i++)
        checks[i] += (unsigned)(signal + i);
}

__attribute__((noinline)) static unsigned leaf(unsigned a, unsigned b) {
    unsigned local[12];
    for (unsigned i = 0; i < 12; i++)
        local[i] = a * i + b;
    return local[a % 12] ^ local[b % 12];
}

int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 300}, {0, 300}};
    unsigned long long sum = 0, carry = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (unsigned i = 0; i < 3000000; i++) {
        unsigned long long next = sum + leaf(i, i >> 3) * 0x123456789abcdefULL;
        carry += next < sum;
        sum = next;
    }
    timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    printf("%llu %llu %s\n", sum, carry, ticks > 2 ? "ticked" : "never ticked");
    return checks[0] != (unsigned)ticks * (unsigned)SIGALRM;
}
