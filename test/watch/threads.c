// Threads that write by turns and all at once to words of their own; each thread's writes are told in
// its order. What they all add to is watched where one alone has it.
// flags: -pthread
// unfiltered
// watch: slots[0] = slots:64
// watch: slots[1] = slots+64:64
// watch: slots[2].count = slots+132:4
// watch: turns = turns:4
// watch: board[1..5] = board+1:5
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -static
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct slot {
    int number, count;
    uint64_t values[7];
};
_Alignas(64) struct slot slots[4];
int turns;
char board[8];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static __thread int mine;

static void *work(void *argument) {
    int n = (int)(intptr_t)argument;
    struct slot *slot = &slots[n];
    for (int i = 0; i < 8; i++) {
        slot->count++;
        mine += i;
        __atomic_fetch_add(&slot->values[i % 7], (uint64_t)mine, __ATOMIC_SEQ_CST);
        pthread_mutex_lock(&lock);
        while (turns % 3 != n)
            pthread_cond_wait(&changed, &lock);
        turns++;
        board[(turns + n) % 8] = (char)turns;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        memset(&slot->values[1], n + i, 20);
    }
    slot->number = n + 1;
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (intptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    turns = -1;
    slots[0].number += 5;
    printf("%d %d\n", slots[0].count, slots[1].number);
    return 0;
}
