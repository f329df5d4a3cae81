/* ring.h: the watch file: the requests to a program, and the ring with its hits
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
    uint64_t lost; /* bytes of incomplete records among them */
};

/* Makes the file without requests, and removes files of this user whose watchers were killed.
 * Returns NULL, or an error message. */
const char *ring_make(struct ring *ring);

/* Gives the file to the owner of PROCESS, which will open it. Returns NULL, or an error message. */
const char *ring_give(const struct ring *ring, pid_t process);

/* Removes the file's name. All processes that need the file have it mapped. */
void ring_hide(struct ring *ring);

/* Tells writers that there is no reader, unmaps the file and removes it. */
void ring_remove(struct ring *ring);

/* Gives REQUEST its COUNT ranges, shifted by BIAS. Returns whether there is room. */
bool ring_add_ranges(struct ring *ring, struct quipu_watch_request *request,
                     const struct quipu_watch_range *ranges, size_t count, uint64_t bias);

/* Requests a region. Returns the request's number, or REQUESTS_MAX if there is no room. */
uint32_t ring_ask(struct ring *ring, const struct quipu_watch_request *request);

/* Enters the writer at PC in module NUMBER as allowed, if there is room: its writes to guarded
 * memory are no longer reported. */
void ring_allow(struct ring *ring, uint32_t number, uint64_t pc);

/* Returns the next complete record, without padding, or NULL if there is none now. It is valid
 * until ring_done. */
struct quipu_record *ring_next(struct ring *ring);

/* Clears the record that ring_next returned. */
void ring_done(struct ring *ring, const struct quipu_record *record);

/* Answers HIT, whose thread is waiting, and waits until it has read the answer. */
void ring_answer(struct quipu_hit *hit, uint32_t answer);

/* Sleeps until a writer wakes it, a signal arrives or the time has passed. */
void ring_sleep(struct ring *ring, unsigned milliseconds);

/* Sleeps for a short time, so that hits gather and no writer has to wake the consumer. */
void ring_nap(void);

/* Whether a writer has reserved bytes that are not complete. */
bool ring_is_stuck(const struct ring *ring);

/* Whether the writer that has begun them is known to be gone. */
bool ring_is_abandoned(const struct ring *ring);

/* For a record at the tail that no writer will complete: skips to the next complete record, or to
 * the end of the reserved bytes. */
void ring_skip(struct ring *ring);

#endif
