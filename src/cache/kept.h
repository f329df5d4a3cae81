/* kept.h: the references of a part that may change caches whose levels depend on each other.
 *
 * A part of a trace begins with caches whose contents are not known. Where the last level takes
 * lines from the others, or gets them, much depends on these contents. So a part does not simulate
 * them. It leaves out the references that change nothing, whatever the contents are, and keeps the
 * others, for one simulation of all parts. Leaving out is what takes the time: the references must
 * be regenerated for it.
 *
 * A use of a line is quiet if it is the line that the first cache has used last in the set, and if
 * no other line of its set in the last level was used since then. The first cache still has it in
 * front: nothing else removes it, and a hit changes only the order in its set. A reference whose
 * uses are all quiet is left out. */
#ifndef QUIPU_CACHE_KEPT_H
#define QUIPU_CACHE_KEPT_H

#include "cache/cache.h"
#include "cache/part_file.h"
#include "util/buffer.h"

/* What the last uses of one set were. */
struct recent_line {
    uint64_t mark;  /* 1 + the line; 0: none */
    uint64_t since; /* of a first cache: when it was used; of the last level: when another line was
                       the last one before */
};

/* Where the difference to the reference before is taken from. */
struct kept_before {
    uint64_t addresses[REFERENCE_KINDS];
    uint64_t place;
};

struct kept_references {
    unsigned line_bits;
    bool lost_everywhere;                  /* the first caches lose what the last level loses */
    uint64_t first_masks[REFERENCE_KINDS]; /* number of sets - 1; of the first cache by kind */
    uint64_t last_mask;
    struct recent_line *first[REFERENCE_KINDS]; /* by set; owned, those of data are one */
    struct recent_line *last;                   /* by set; owned */
    uint64_t time;                              /* uses of lines that were not quiet */
    struct kept_before before;
    struct buffer bytes; /* of the references that were kept; doc/format.md */
};

/* Begins with caches of SHAPE, whose lines have one size. kept_release frees what is owned. */
void kept_begin(struct kept_references *kept, const struct hierarchy_shape *shape);
void kept_release(struct kept_references *kept);

/* Keeps REFERENCE, unless it is quiet. */
void kept_take(struct kept_references *kept, const struct memory_reference *reference);

/* Appends REFERENCE to BYTES. BEFORE is zeros at first. */
void kept_add(struct buffer *bytes, struct kept_before *before,
              const struct memory_reference *reference);

/* Appends the references that were kept to OUT, and forgets all, as at the begin of a part. */
void kept_write(struct buffer *out, struct kept_references *kept);

/* Reads the next reference from NEXT. Returns false if there is no valid one. BEFORE is zeros at
 * first. */
bool kept_read(struct cursor *next, struct kept_before *before, struct memory_reference *reference);

#endif
