/* watch_interrupted.c: signal handlers that make, find, hit and delete regions while the code that
 * they interrupt does the same, in several threads.  watch_interrupted.sh runs it.
 *
 * Ends at the latest by the alarm: a handler that waits for a lock which its own thread holds does
 * not come back. */
#include "runtime/watch/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
    ((condition) ? (void)0                                                                         \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), _exit(1)))

enum {
    THREADS = 3,
    SLOTS = 40,      /* regions of a thread, and as many of its handler */
    SIGNALS = 20000, /* in all */
    AREA = 1 << 16,  /* bytes of a thread's; the second half is its handler's */
    LONGEST = 100,   /* seconds */
};

struct owner {
    uint64_t memory, state;
    int64_t ids[SLOTS];
    uint32_t sizes[SLOTS];
};

static struct owner workers[THREADS], handlers[THREADS];
static pthread_t threads[THREADS];
static __thread int self = -1;
static unsigned long handled, hits, wanted;
static int stop;

static void count_hit(const void *write, void *argument) {
    (void)write;
    (void)argument;
    __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

static uint64_t random_number(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Places are apart by more than a granule and their own size. */
static uint64_t place_of(const struct owner *owner, unsigned slot) {
    return owner->memory + slot * (AREA / 2 / SLOTS);
}

static bool is_found(uint64_t address, int64_t id) {
    uint32_t found[WATCH_BATCH];
    unsigned count = quipu_watch_find(address, address + 1, 0, found);
    EXPECT(count <= 1);
    return count == 1 && found[0] == (uint32_t)id - 1;
}

/* A store of one byte, told as the end of a long one is. */
static void hit(uint64_t address) {
    struct watch_write write = {.address = address,
                                .length = 1,
                                .pc = 1,
                                .place = 1,
                                .cause = QUIPU_CAUSE_STORE,
                                .made = WATCH->made};
    __atomic_fetch_add(&wanted, 1, __ATOMIC_RELAXED);
    ++*(volatile uint8_t *)address;
    quipu_watch_report_all(&write);
}

/* Makes the region of a slot, or deletes it; what is there now is found, and nothing else. */
static void turn_over(struct owner *owner) {
    unsigned slot = (unsigned)(random_number(&owner->state) % SLOTS);
    uint64_t address = place_of(owner, slot);
    if (owner->ids[slot] > 0) {
        EXPECT(is_found(address, owner->ids[slot]));
        hit(address + owner->sizes[slot] - 1);
        EXPECT(quipu_watch_remove(owner->ids[slot]) == 0);
        EXPECT(quipu_watch_remove(owner->ids[slot]) < 0);
        EXPECT(!is_found(address, owner->ids[slot]));
        owner->ids[slot] = 0;
        return;
    }
    EXPECT(!is_found(address, 0));
    owner->sizes[slot] = 1 + (uint32_t)(random_number(&owner->state) % (slot % 2 ? 8 : 200));
    owner->ids[slot] = quipu_watch_add(address, owner->sizes[slot], (uint64_t)count_hit, 0, 0);
    EXPECT(owner->ids[slot] > 0 && is_found(address, owner->ids[slot]));
}

static void handle(int number) {
    (void)number;
    if (self < 0)
        return;
    for (int i = 0; i < 4; i++)
        turn_over(&handlers[self]);
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *work(void *which) {
    self = (int)(long)which;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        turn_over(&workers[self]);
    return NULL;
}

static void delete_all(struct owner *owner) {
    for (unsigned i = 0; i < SLOTS; i++)
        if (owner->ids[i] > 0)
            EXPECT(quipu_watch_remove(owner->ids[i]) == 0);
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    quipu_watch_start(0, NULL, NULL);
    EXPECT(quipu_watch_ready);
    alarm(LONGEST);
    sigaction(SIGUSR1, &action, NULL);
    char *memory =
        mmap(NULL, THREADS * AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < THREADS; i++) {
        workers[i] = (struct owner){.memory = (uint64_t)memory + i * AREA, .state = 1 + i};
        handlers[i] = (struct owner){.memory = workers[i].memory + AREA / 2, .state = 100 + i};
    }
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    /* those that are pending are one: so the next is sent when one was handled, or after a while */
    for (unsigned long sent = 0; sent < SIGNALS; sent++) {
        unsigned long before = __atomic_load_n(&handled, __ATOMIC_RELAXED);
        pthread_kill(threads[sent % THREADS], SIGUSR1);
        for (int i = 0; i < 1000 && __atomic_load_n(&handled, __ATOMIC_RELAXED) == before; i++)
            __builtin_ia32_pause();
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        delete_all(&workers[i]);
        delete_all(&handlers[i]);
    }
    EXPECT(WATCH->count == 0 && !WATCH->armed);
    EXPECT(!quipu_watch_is_marked((uint64_t)memory, (uint64_t)memory + THREADS * AREA));
    /* where a handler of signals interrupts one of hits, what it writes is told to none */
    EXPECT(handled > 100 && hits <= wanted && hits > wanted / 2);
    return 0;
}
