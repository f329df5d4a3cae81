// Signals come at any instruction, between a check and its store, too; what handlers write and what
// they interrupt lies side by side.
// flags: -pthread
// unordered
// watch: cells[0] = cells:8
// watch: cells[1] = cells+8:8
// watch: cells[2] = cells+16:8
// watch: cells[3] = cells+24:8
// watch: text = text:24
// watch: copied = copied:24
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -static
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SIGNALS = 60 };
_Alignas(64) uint64_t cells[4];
char text[24], copied[24];
static volatile sig_atomic_t came;
static volatile uint64_t reached;
static pthread_t first;

static void handler(int number) {
    (void)number;
    cells[1] += 3;
    cells[2] = ~cells[2];
    memset(copied, came + 1, sizeof copied);
    came++;
}

__attribute__((noinline)) static void work(uint64_t i) {
    reached = i;
    cells[0] = i;
    cells[3] ^= i * 0x9e3779b97f4a7c15;
    __asm__ volatile("" ::: "memory");
    for (unsigned k = 0; k < sizeof text; k++)
        text[k] = (char)(text[k] + k);
    void *to = text;
    uint64_t count = 8;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(i) : "memory");
}

// Signals of real time are never merged.
static void *send(void *argument) {
    for (uint64_t i = 1; i <= SIGNALS; i++) {
        while (reached < i * 2)
            continue;
        pthread_kill(first, SIGRTMIN);
    }
    return argument;
}

int main(void) {
    pthread_t sender;
    first = pthread_self();
    signal(SIGRTMIN, handler);
    pthread_create(&sender, NULL, send, NULL);
    for (uint64_t i = 1; i <= SIGNALS * 2 + 20; i++)
        work(i);
    pthread_join(sender, NULL);
    while (came < SIGNALS)
        continue;
    printf("%d %llu\n", (int)came, (unsigned long long)cells[1]);
    return 0;
}
