/* record_shuffle.c: random turns, so that a failure which depends on the order of threads comes up
 * earlier; see record.h.
 *
 * Threads have random priorities for a while, so that some run far ahead of others. A turn has a
 * random length: in time, and in programs with ticks in ticks without a system call, from one to
 * some millions. Each order is one that the machine could have chosen. */
#include "replay/record.h"

#include "util/clock.h"
#include "util/random.h"

enum {
    TICKS_BITS = 22, /* a turn has fewer ticks than 1 << TICKS_BITS */
    STEPS = 32,      /* behind the tick a turn has fewer instructions */
    TIME_BITS = 16   /* the shortest turn is the longest one divided by nearly 1 << TIME_BITS */
};

/* In seconds: how long priorities hold, and the longest turn. */
static const double priorities_hold = 0.03, turn_longest = 0.02;

static void draw_priorities(struct recorder *recorder) {
    double now = clock_seconds();
    if (now < recorder->shuffle.until)
        return;
    recorder->shuffle.until = now + priorities_hold;
    for (struct recorded_thread *at = recorder->threads; at; at = at->next)
        at->priority = next_random(&recorder->shuffle.random);
}

void shuffle_begin(struct shuffle *shuffle, uint64_t seed) {
    *shuffle = (struct shuffle){.on = true, .random = seed};
}

/* The one with the highest priority, or in one case of four any. */
struct recorded_thread *shuffle_choose(struct recorder *recorder, const struct group *group) {
    struct recorded_thread *chosen = NULL;
    draw_priorities(recorder);
    bool any = next_random(&recorder->shuffle.random) % 4 == 0;
    uint32_t best = 0;
    for (struct recorded_thread *at = recorder->threads; at; at = at->next) {
        uint32_t priority = any ? next_random(&recorder->shuffle.random) : at->priority;
        if (at->process->group != group || !is_ready(at) || (chosen && priority <= best))
            continue;
        chosen = at;
        best = priority;
    }
    return chosen;
}

unsigned shuffle_steps(struct recorder *recorder) {
    return next_random(&recorder->shuffle.random) % STEPS;
}

void shuffle_turn(struct recorder *recorder, struct group *group) {
    uint64_t *random = &recorder->shuffle.random;
    unsigned bits = next_random(random) % TICKS_BITS;
    group->ticks = 1 + next_random(random) % (1u << bits);
    group->until = clock_seconds() + turn_longest / (double)(1u << next_random(random) % TIME_BITS);
}
