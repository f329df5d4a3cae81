/* ring.h: the watch file: what is asked of a program, and the ring of what it tells
 * (format/watch.h). */
#ifndef QUIPU_WATCH_RING_H
#define QUIPU_WATCH_RING_H

#include "format/watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    RING_SIZE = 8 << 20,
    REQUESTS_MAX = 4096,
    RANGES_MAX = 16384,
    ALLOWED_MAX = 32768, /* a power of 2 */
};

struct ring {
    char *path; /* owned; NULL: the file has no name any more */
    int fd;     /* of the file, which stays locked */
    struct quipu_watch_file *file;
    size_t size; /* of the mapping */
    struct quipu_allowed_writer *allowed;
    struct quipu_watch_request *requests;
    struct quipu_watch_range *ranges;
    uint32_t range_count;
    uint8_t *records;
    uint64_t tail; /* bytes that were read, ever */
    uint64_t lost; /* of those: bytes of records that never were complete */
};

/* Makes the file, with no requests, and removes those of ours whose watchers were killed.  Returns
 * NULL, or what is wrong. */
const char *ring_make(struct ring *ring);

/* Makes the file that of the owner of PROCESS, who is to open it.  Returns NULL, or what is wrong.
 */
const char *ring_give(const struct ring *ring, pid_t process);

/* Takes the file's name away: all that need it have it mapped. */
void ring_hide(struct ring *ring);

/* Tells writers that nobody reads, unmaps it and removes the file. */
void ring_remove(struct ring *ring);

/* Gives REQUEST its ranges, COUNT of them, moved by BIAS.  Returns whether there is room. */
bool ring_add_ranges(struct ring *ring, struct quipu_watch_request *request,
                     const struct quipu_watch_range *ranges, size_t count, uint64_t bias);

/* Asks for a region.  Returns the request's number; REQUESTS_MAX: there is no room for more. */
uint32_t ring_ask(struct ring *ring, const struct quipu_watch_request *request);

/* The writer at PC in the module of that NUMBER need not tell of what is guarded any more, if there
 * is room for one more such writer. */
void ring_allow(struct ring *ring, uint32_t number, uint64_t pc);

/* The next record that is complete, padding left out; NULL: there is none now.  It stays until
 * ring_done. */
const struct quipu_record *ring_next(struct ring *ring);

/* Clears the record that ring_next gave. */
void ring_done(struct ring *ring, const struct quipu_record *record);

/* Answers HIT, whose thread waits, and waits until it has read that. */
void ring_answer(struct quipu_hit *hit, uint32_t answer);

/* Sleeps until a writer wakes us, a signal comes or the time is over. */
void ring_sleep(struct ring *ring, unsigned milliseconds);

/* Sleeps for a moment, so that hits gather and no writer has to wake us. */
void ring_nap(void);

/* Whether a writer has taken bytes that are not complete. */
bool ring_is_stuck(const struct ring *ring);

/* Whether the one that has begun to write them is known to be gone. */
bool ring_is_abandoned(const struct ring *ring);

/* No writer is left that could complete the record at the tail: goes on with the next one that is
 * complete, or to the end of what was taken. */
void ring_skip(struct ring *ring);

#endif
