/* order_part.h: the references of a part of a thread, for caches of several processors.
 *
 * In which order threads use coherent caches depends on the tickets that all of them have taken
 * (trace/order.h), and on the instructions between these. A part of one thread knows nothing of the
 * others. So it simulates nothing: it keeps the tickets, the number of instructions between them,
 * and the references. A merge brings all threads into their order and simulates them.
 *
 * It leaves out fetches of the line that the thread has fetched last from its set: nobody else
 * removes it, and a hit changes nothing. That is so if each thread has a processor of its own, and
 * if the last level does not take lines away from the first one. */
#ifndef QUIPU_CACHE_ORDER_PART_H
#define QUIPU_CACHE_ORDER_PART_H

#include "cache/kept.h"
#include "cache/processors.h"

struct order_part {
    bool leaves_out; /* quiet fetches */
    unsigned line_bits;
    uint64_t mask;    /* number of sets - 1, of the cache for instructions */
    uint64_t *recent; /* by set: 1 + the line that was fetched last; owned */
    struct kept_before before;
    uint64_t plain;      /* instructions with nothing to keep, up to the one that is taken */
    bool begun;          /* an instruction is taken */
    uint64_t count;      /* of its kept references, ... */
    struct buffer step;  /* ... which are these */
    struct buffer bytes; /* all in front of it; doc/format.md */
};

/* Begins with PROCESSORS of SHAPE, for a trace of THREADS. order_part_release frees what is owned.
 */
void order_part_begin(struct order_part *part, const struct hierarchy_shape *shape,
                      unsigned processors, size_t threads);
void order_part_release(struct order_part *part);

/* Takes REFERENCE, which may be a ticket. FIRST: its place is new in this part of the thread, so it
 * is kept. Returns whether it is kept. */
bool order_part_take(struct order_part *part, const struct memory_reference *reference, bool first);

/* Appends all to OUT, and forgets it, as at the begin of a part of a thread. */
void order_part_write(struct buffer *out, struct order_part *part);

/* What is kept of a thread in one file. */
struct ordered_bytes {
    const uint8_t *bytes;
    size_t size;
    size_t file; /* index */
};

struct ordered_stream {
    uint32_t process, number; /* of the thread: its process's, and its own in that */
    VECTOR(struct ordered_bytes) parts;
};

/* What gets references: REFERENCE, kept in file FILE, is the next one of all threads. */
typedef void use_ordered(void *context, const struct memory_reference *reference, size_t file);

/* Brings the COUNT threads into the order of trace/order.h. Returns false if bytes are corrupt. */
bool merge_order(const struct ordered_stream *streams, size_t count, use_ordered *use,
                 void *context);

#endif
