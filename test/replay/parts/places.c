// Computes for long without system calls and without ticks, in many ways, while signals come that
// its handler tells by a call, and threads wait that count their passes.  Which of these come
// first, differs from run to run.
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    SIZE = 20000,
    SIGNALS = 1 // during each computation
};

static volatile unsigned long came, passes;
static unsigned long seen;
static int numbers[SIZE];
static char text[8 * SIZE];
static volatile int done;

// The place is told by what has been computed up to it.
static void handle(int number) {
    (void)number;
    came++;
    for (int i = 0; i < SIZE; i += 100)
        seen = seen * 31 + (unsigned)numbers[i];
    seen = seen * 31 + passes;
    getppid();
    getppid(); // the oracle looks at each second call
}

static int compare(const void *one, const void *other) {
    passes++;
    return *(const int *)one - *(const int *)other;
}

static void integers(unsigned long seed) {
    unsigned long x = seed;
    for (int i = 0; i < 10000; i++)
        x = x * 6364136223846793005ul + (unsigned long)i;
    numbers[seed % SIZE] = (int)x;
}

// Only a vector register tells the passes apart.
static void vectors(unsigned long seed) {
    double x = (double)seed, end = x + 10000;
    while (x < end)
        x += 1;
    numbers[seed % SIZE] = (int)x;
}

static void long_doubles(unsigned long seed) {
    long double x = seed, end = x + 10000;
    while (x < end)
        x += 1;
    numbers[seed % SIZE] = (int)x;
}

// Only a word of memory does.
static void memory(unsigned long seed) {
    static volatile unsigned long count;
    for (count = 0; count < 10000; count++)
        continue;
    passes += count + seed;
}

static void local(unsigned long seed) {
    volatile unsigned long count, sum = seed;
    for (count = 0; count < 10000; count++)
        sum += count;
    passes += sum;
}

static void sort(unsigned long seed) {
    for (int i = 0; i < SIZE; i++)
        numbers[i] = (int)((unsigned)i * 7919u + (unsigned)seed) % 100003;
    qsort(numbers, SIZE, sizeof *numbers, compare);
}

static void copy(unsigned long seed) {
    memset(text, (int)(seed % 255 + 1), sizeof text - 1);
    for (int i = 1; i < 20; i++)
        memmove(text + i, text, sizeof text - 1 - (size_t)i);
    passes += strlen(text);
}

static unsigned long fibonacci(unsigned long n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void recursion(unsigned long seed) {
    numbers[seed % SIZE] += (int)fibonacci(18);
}

static void format(unsigned long seed) {
    for (int i = 0; i < 50; i++)
        snprintf(text, sizeof text, "%lu %f %s", seed, (double)seed / 7, "text");
    passes += (unsigned char)text[3];
}

static void allocate(unsigned long seed) {
    void *blocks[100];
    for (int i = 0; i < 100; i++)
        blocks[i] = malloc((seed + (unsigned long)i) % 500);
    for (int i = 0; i < 100; i++)
        free(blocks[i]);
    passes++;
}

// In the register in which a call leaves the flags, it counts passes of three instructions.
static void down(unsigned long seed) {
    unsigned long count = 100000000;
    __asm__ volatile(
        "mov %0, %%r11; 1: lea -1(%%r11), %%r11; test %%r11, %%r11; jnz 1b; mov %%r11, %0"
        : "+r"(count)::"r11", "cc");
    passes += count + seed;
}

static void (*const computations[])(unsigned long) = {
    integers, vectors, long_doubles, memory, local, sort, copy, recursion, format, allocate, down,
};

static void *wait_for_end(void *counter) {
    unsigned long count = 0;
    while (!done)
        count++;
    *(unsigned long *)counter = count;
    return NULL;
}

int main(int argc, char **argv) {
    const struct itimerval timer = {{0, 7000}, {0, 7000}}, none = {{0, 0}, {0, 0}};
    unsigned long count = 0, seed = 0;
    pthread_t thread;
    bool threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    if (threads)
        pthread_create(&thread, NULL, wait_for_end, &count);
    signal(SIGALRM, handle);
    for (size_t i = 0; i < sizeof computations / sizeof *computations; i++) {
        setitimer(ITIMER_REAL, &timer, NULL);
        for (unsigned long until = came + SIGNALS; came < until; seed++)
            computations[i](seed);
        setitimer(ITIMER_REAL, &none, NULL);
        printf("%zu: %lu %lx %lu\n", i, came, seen, seed);
    }
    done = 1;
    if (threads)
        pthread_join(thread, NULL);
    printf("%lu\n", count);
    return 7;
}
