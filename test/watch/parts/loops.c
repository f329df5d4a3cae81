// A region appears while a loop runs that has no checks: it is made by a signal handler, by another
// thread, or by a handler that leaves by longjmp.  No write is missed behind the turn that is under
// way.
#include "runtime/watch/watch.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    CELLS = 16,
    WATCHED = 5,
    HITS = 200
};

#define EXPECT(condition)                                                                          \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), fflush(stdout), _exit(1)))

static volatile uint64_t cells[4096];
static volatile uint64_t reached; // by the loop
static volatile sig_atomic_t enough, came;
static volatile uint64_t armed_at, first_hit, last_hit, hits, missed;
static int64_t region;
static sigjmp_buf back;
static bool jumps, left;
static volatile uint64_t row_length = CELLS;

static void hit(const struct quipu_write *write, void *context) {
    uint64_t value;
    (void)context;
    memcpy(&value, write->new_bytes, sizeof value);
    if (hits++ == 0)
        first_hit = value;
    else
        missed = missed + (value != last_hit + CELLS);
    last_hit = value;
    if (hits >= HITS)
        enough = 1;
}

static void arm(void) {
    armed_at = reached;
    region = quipu_runtime_watch((uint64_t)&cells[WATCHED], sizeof *cells, (uint64_t)hit, 0);
    EXPECT(region > 0);
}

static void in_microseconds(unsigned microseconds) {
    struct itimerval timer = {.it_value.tv_usec = microseconds};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void handler(int number) {
    (void)number;
    if (!reached) { // the loop has not begun
        in_microseconds(1000);
        return;
    }
    came = came + 1;
    if (jumps)
        siglongjmp(back, 1);
    arm();
    EXPECT(WATCH->loops_closed || WATCH->no_shadow); // the loop was one without checks
}

// Each turn has a store.  Where it is armed in the middle of a turn, that one's may be missed.
__attribute__((noipa)) static void run(volatile uint64_t *to, uint64_t from) {
    for (uint64_t i = from; !enough; i++) {
        reached = i;
        to[i % CELLS] = i;
    }
}

// A loop within a loop, of as many turns as the compiler does not know.
__attribute__((noipa)) static void run_nest(volatile uint64_t *to, uint64_t from) {
    uint64_t row = row_length;
    for (uint64_t i = from; !enough; i += CELLS)
        for (uint64_t n = 0; n < row; n++) {
            reached = i + n;
            to[n] = i + n;
        }
}

// It writes what is known in front of it.
__attribute__((noipa)) static void run_in_place(volatile uint64_t *to, uint64_t from) {
    for (uint64_t i = from; !enough; i++) {
        reached = i;
        *to = i;
    }
}

__attribute__((noipa)) static uint64_t fill(volatile uint64_t *to, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        to[i] = i;
    return count;
}

static void check(void) {
    EXPECT(hits >= HITS);
    EXPECT(missed == 0);
    EXPECT(first_hit % CELLS == WATCHED);
    EXPECT(first_hit <= armed_at + CELLS + 1);
    EXPECT(quipu_runtime_unwatch(region) == 0);
    hits = enough = 0;
}

static void *arm_later(void *argument) {
    while (reached < 100000)
        continue;
    struct timespec nap = {0, 2000000};
    nanosleep(&nap, NULL);
    arm();
    return argument;
}

// Once loops are left, copies are open again.
static void open_again(void) {
    for (int i = 0; i < 100 && WATCH->loops_closed; i++)
        usleep(100), fill(cells, 64);
    EXPECT(left || !WATCH->loops_closed);
}

static void (*runs)(volatile uint64_t *to, uint64_t from) = run;

static void by_handler(void) {
    for (int i = 0; i < 20; i++) {
        open_again();
        came = 0;
        reached = 0;
        in_microseconds(1000 + 100 * (unsigned)i);
        runs(cells, CELLS);
        check();
    }
}

static void by_thread(void) {
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        reached = 0;
        pthread_create(&thread, NULL, arm_later, NULL);
        runs(cells, CELLS);
        pthread_join(thread, NULL);
        EXPECT(missed == 0 && hits >= HITS && first_hit % CELLS == WATCHED);
        EXPECT(quipu_runtime_unwatch(region) == 0);
        hits = enough = 0;
    }
}

// Where something else is watched meanwhile.
static void with_another(void) {
    static volatile uint64_t other[64];
    int64_t id = quipu_runtime_watch((uint64_t)&other[20], sizeof *other, (uint64_t)hit, 0);
    EXPECT(id > 0);
    for (int i = 0; i < 20; i++) {
        open_again();
        reached = 0;
        in_microseconds(1000);
        run_in_place(&cells[WATCHED], 1);
        EXPECT(hits >= HITS && first_hit <= armed_at + 2 && last_hit == first_hit + hits - 1);
        EXPECT(quipu_runtime_unwatch(region) == 0);
        hits = missed = enough = 0;
    }
    open_again();
    fill(other, 64);
    EXPECT(hits == 1);
}

// The thread's word stays taken; then others find it so.
static void by_longjmp(void) {
    jumps = true;
    if (!sigsetjmp(back, 1)) {
        in_microseconds(1000);
        runs(cells, CELLS);
    }
    jumps = false;
    left = true; // copies may stay closed from now on
    EXPECT(came == 1);
    arm();
    for (int i = 0; i < HITS; i++)
        fill(cells, CELLS);
    EXPECT(hits == HITS);
    quipu_runtime_unwatch(region);
    hits = missed = enough = 0;
    by_handler();
}

static void again(void) {
    by_handler();
    open_again();
}

int main(int argc, char **argv) {
    signal(SIGALRM, handler);
    EXPECT(argc == 3);
    if (!strcmp(argv[2], "nest"))
        runs = run_nest;
    fill(cells, 64); // its word is known from now on
    if (!strcmp(argv[1], "handler"))
        by_handler();
    else if (!strcmp(argv[1], "thread"))
        by_thread();
    else if (!strcmp(argv[1], "another"))
        with_another();
    else if (!strcmp(argv[1], "longjmp"))
        by_longjmp();
    else
        again();
    return 0;
}
