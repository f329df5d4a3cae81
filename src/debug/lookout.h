/* lookout.h: goes along a recorded run from one write of some ranges of memory to the next.
 *
 *     lookout_begin(&lookout, timeline)
 *     lookout_watch(&lookout, ranges, count)      also meanwhile, where pointers lead elsewhere
 *     lookout_next(&lookout)                      until it is not HALT_WATCH
 *     lookout_end(&lookout)
 *
 * Debug registers tell of each write of an instruction. Where they do not work, or the ranges are
 * too large for them, each instruction is stepped, and only changes are seen; so are those by
 * system calls. */
#ifndef QUIPU_DEBUG_LOOKOUT_H
#define QUIPU_DEBUG_LOOKOUT_H

#include "debug/timeline.h"
#include "expression/expression.h"

enum {
    LOOKOUT_RANGES = 64
};

struct lookout_range {
    uint64_t address;
    size_t size;              /* at most WATCHED_MAX */
    uint8_t *old, *now;       /* the bytes in front of the last write and behind it; owned */
    bool was_there, is_there; /* there is memory */
    size_t begin, end;        /* bytes of it that were written last; equal: none */
};

struct lookout {
    struct timeline *timeline;
    bool keeps; /* checkpoints are made on the way, to go back to */
    struct lookout_range ranges[LOOKOUT_RANGES];
    size_t count;
    uint64_t serial; /* of the program whose memory they are in; writes of others are none */

    /* the last write */
    pid_t thread;         /* recorded number of the writer */
    uint64_t instruction; /* its address; 0: not known */
    bool is_call;         /* that is a system call, or a signal comes in there */

    uint64_t last_write;                    /* where it stopped */
    uint64_t known_stop, known_instruction; /* where it was found last */
};

void lookout_begin(struct lookout *lookout, struct timeline *timeline);
void lookout_end(struct lookout *lookout);

/* From now on the COUNT RANGES, of which address and size are set, are watched. Returns NULL, or a
 * message. */
const char *lookout_watch(struct lookout *lookout, const struct lookout_range *ranges,
                          size_t count);

/* Nothing is watched: the timeline has gone elsewhere. */
void lookout_forget(struct lookout *lookout);

/* Whether they are already. */
bool lookout_watches(const struct lookout *lookout, const struct lookout_range *ranges,
                     size_t count);

/* What EXPRESSION, of the program, reads is watched where it is now. Returns NULL, or a message. */
const char *lookout_watch_expression(struct lookout *lookout, const struct expression *expression);

/* The timeline has come to HALT_WATCH by another way. BEFORE: the instruction at which it was
 * before, if each is stepped. Sets what is known of the write; false: nothing was written. */
bool lookout_take(struct lookout *lookout, uint64_t before);

/* Goes on to behind the next write: HALT_WATCH, or HALT_END, HALT_INTERRUPT. */
enum halt_kind lookout_next(struct lookout *lookout);

#endif
