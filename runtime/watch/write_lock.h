/* write_lock.h: write locks, which order the writes of threads to watched memory. See write_lock.c.
 */
#ifndef QUIPU_RUNTIME_WATCH_WRITE_LOCK_H
#define QUIPU_RUNTIME_WATCH_WRITE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WATCH_WRITE_LOCK_BITS = 5,
    WATCH_WRITE_LOCKS = 1 << WATCH_WRITE_LOCK_BITS
};

/* A write lock, for the granules that have its number. It has the size of a cache line. */
struct watch_write_lock {
    uint64_t owner;    /* thread pointer of the holder; 0: free */
    uint64_t stack;    /* the holder's stack pointer, as in a pair */
    uint64_t stamp;    /* time stamp of when it was taken */
    uint64_t releases; /* how often its owner has released it, ever */
    bool disturbed;    /* a handler that interrupted the holder has written under the lock, too */
    uint64_t reserved[3];
};

/* The write locks that a writer holds from the look at the old bytes until the hit's record is
 * written. */
struct watch_hold {
    uint64_t stack;
    uint64_t closed; /* if there is one thread: value as in struct watch_wiped at the begin */
    uint64_t events; /* value of quipu_watch_events at the begin */
    uint32_t locks;  /* bit mask of write locks */
    bool is_alone;   /* there was one thread, which needs no locks */
    bool is_lost;    /* another write may have come between: the hit is not exact */
};

/* Takes the write locks of [ADDRESS, END), which may be any memory. Waits until no other thread
 * holds them, so that no instrumented store of another thread writes there until HOLD is released.
 * STACK is as in a pair. */
void quipu_watch_hold(struct watch_hold *hold, uint64_t address, uint64_t end, uint64_t stack);
/* May be called several times. */
void quipu_watch_let_go(struct watch_hold *hold);
/* How often write locks of [ADDRESS, END) were released, ever. A lock of two granules counts twice.
 */
uint64_t quipu_watch_releases(uint64_t address, uint64_t end);
/* Whether no other write of which the runtime knows went to [ADDRESS, END) since HOLD was taken. */
bool quipu_watch_is_undisturbed(const struct watch_hold *hold, uint64_t address, uint64_t end);

#endif
