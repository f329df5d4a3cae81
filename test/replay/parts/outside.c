// Tells all that comes to a program from outside without a file: no two runs say the same.
#define _GNU_SOURCE
#include <cpuid.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* With registers of all sizes, and all flags set in front of it. */
#define SAY(instruction, name)                                                                     \
    do {                                                                                           \
        unsigned long value = -1, flags = 0x8d5;                                                   \
        __asm__ volatile("push %1; popf; " instruction "; pushf; pop %1"                           \
                         : "+" name(value), "+b"(flags)::"cc");                                    \
        printf("%s %lx, flags %lx\n", instruction, value, flags & 0x8d5);                          \
    } while (0)

static void say_random_numbers(void) {
    register unsigned long ninth __asm__("r9") = -1;
    if (!__builtin_cpu_supports("rdrnd"))
        return;
    SAY("rdrand %%rax", "a");
    SAY("rdrand %%edx", "d");
    SAY("rdrand %%cx", "c");
    __asm__ volatile("rdrand %0" : "+r"(ninth)::"cc");
    printf("rdrand %lx\n", ninth);
    if (!__builtin_cpu_supports("rdseed"))
        return;
    SAY("rdseed %%rsi", "S");
    SAY("rdseed %%edi", "D");
    SAY("rdseed %%ax", "a");
}

/* On each processor in turn, as libraries do that look at the machine. */
static void say_processors(void) {
    unsigned a, b, c, d;
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        sched_setaffinity(0, sizeof one, &one);
        __cpuid(1, a, b, c, d);
        printf("processor %d: %x %x %x %x\n", i, a, b, c, d);
    }
    sched_setaffinity(0, sizeof all, &all);
    for (int i = 0; i < 100; i++) /* the test counts them */
        __cpuid_count(7, 0, a, b, c, d);
    printf("features: %x %x %x %x\n", a, b, c, d);
}

int main(int argc, char **argv) {
    struct timeval now;
    struct timespec point;
    struct tms times_used;
    unsigned long number;
    unsigned processor;
    gettimeofday(&now, NULL);
    clock_gettime(CLOCK_MONOTONIC, &point);
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return 1;
    printf("time %ld %ld.%06ld %ld.%09ld %ld\n", (long)time(NULL), (long)now.tv_sec,
           (long)now.tv_usec, (long)point.tv_sec, point.tv_nsec, (long)times(&times_used));
    printf("random %lx %lx\n", number, *(unsigned long *)getauxval(AT_RANDOM));
    printf("counter %llu %llu\n", (unsigned long long)__rdtsc(),
           (unsigned long long)__rdtscp(&processor));
    say_random_numbers();
    say_processors();
    printf("process %d %d\n", (int)getpid(), (int)getppid());
    printf("addresses %p %p %p\n", (void *)argv, (void *)main, malloc(100000));
    printf("environment %s, %d arguments\n", getenv("OUTSIDE"), argc);
    fprintf(stderr, "%s ends\n", argv[0]);
    return 5;
}
