// Threads write all at once, each its own bytes of one cache line, and call what writes, too.
// flags: -pthread
// watch: line = line:64
// watch: copies = copies:128
// limit: 4000000
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -static
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, TURNS = 150 };
_Alignas(64) unsigned char line[64];
_Alignas(64) char copies[128];

static void *work(void *argument) {
    unsigned n = (unsigned)(intptr_t)argument;
    unsigned char *mine = line + 16 * n;
    for (unsigned i = 1; i <= TURNS; i++) {
        *(uint64_t *)(void *)mine += i;
        mine[8 + i % 8] = (unsigned char)i;
        __atomic_fetch_xor((uint32_t *)(void *)(mine + 8), i, __ATOMIC_RELAXED);
        if (i % 16 == 0)
            memset(copies + 32 * n, (int)i, 20 + i % 10);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", line[0], copies[0]);
    return 0;
}
