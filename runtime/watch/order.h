/* order.h: in which order threads write to a place that is watched; see order.c. */
#ifndef QUIPU_RUNTIME_WATCH_ORDER_H
#define QUIPU_RUNTIME_WATCH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WATCH_ORDER_BITS = 5,
    WATCH_ORDERS = 1 << WATCH_ORDER_BITS
};

/* Of the granules that have the same number.  A line of the cache. */
struct watch_order {
    uint64_t owner; /* thread pointer of who writes there; 0: nobody */
    uint64_t stack; /* its stack pointer, as a pair's */
    uint64_t stamp; /* since when */
    uint64_t told;  /* how often it was held, ever */
    bool disturbed; /* a handler that has interrupted it has written there, too */
    uint64_t reserved[3];
};

/* What a writer holds between the look at what was and the hit's record. */
struct watch_hold {
    uint64_t stack;
    uint64_t closed; /* where there is one thread: as in struct watch_wiped, at the begin */
    uint64_t events; /* as quipu_watch_events says, at the begin */
    uint32_t orders; /* a bit each */
    bool is_alone;   /* there was one thread, which needs none */
    bool is_lost;    /* it has waited too long for another thread, and has gone on without */
};

/* Waits until no other thread writes to [ADDRESS, END) by instrumented code, which may be any
 * memory, and keeps them waiting until HOLD is let go.  STACK is as a pair's. */
void quipu_watch_hold(struct watch_hold *hold, uint64_t address, uint64_t end, uint64_t stack);
/* May come several times. */
void quipu_watch_let_go(struct watch_hold *hold);
/* How often anything was told of where [ADDRESS, END) is, ever. */
uint64_t quipu_watch_told(uint64_t address, uint64_t end);
/* Whether nothing that the runtime is told of has written to [ADDRESS, END) since then. */
bool quipu_watch_is_undisturbed(const struct watch_hold *hold, uint64_t address, uint64_t end);

#endif
