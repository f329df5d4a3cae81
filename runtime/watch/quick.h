/* quick.h: what is looked at first around calls, at a fixed address of the home, so that
 * entry.S comes by where there is nothing to do.  quick.c keeps it.
 *
 * Assembly and C read this. */
#ifndef QUIPU_RUNTIME_WATCH_QUICK_H
#define QUIPU_RUNTIME_WATCH_QUICK_H

#define WATCH_QUICK_AT 0x6ff06000 /* QUIPU_WATCH_HOME + 0x6000 */
#define QUICK_UNTIL    0          /* offsets of the members below */
#define QUICK_COUNT    40
#define QUICK_HEAP_END 48
#define QUICK_BREAK    56
#define QUICK_WORDS    64
#define QUICK_REST     68
#define QUICK_RANGES   88
#define QUICK_TRACKS   92
#define QUICK_PIECES   96
#define QUICK_WHOLE    4192
#define QUICK_ALONE    10336
#define QUICK_SKIPPED  10344
#define QUICK_COMPARED 10348
#define PIECE_BITS     7 /* of a piece's place, that hold its size */
#define PIECE_KNOWN    8
#define PIECE_SIZE     16

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

enum {
    QUICK_MOST = 256, /* pieces */
    PIECE_MOST = 64,  /* bytes; a piece lies within as many that are aligned */
};

/* Bytes of a region, and what they are known to be.  Address and size are in one word: a reader
 * that takes no lock never sees one of both changed, so it reads no more than is there. */
struct watch_piece {
    uint64_t place; /* address << PIECE_BITS | size */
    const uint8_t *known;
};

/* Most pieces are of 8 bytes.  What ever was put here can be read whole, so a reader may see one of
 * both changed. */
struct watch_word {
    const uint64_t *address;
    const uint64_t *known;
};

struct watch_quick {
    uint64_t until; /* time stamp up to which nothing is compared; 0: there are few regions */
    uint64_t lowest, highest;   /* all regions are in [LOWEST, HIGHEST) */
    uint64_t far, highest_wide; /* loops ask these: format/watch.h, section 2 */
    uint32_t
        count; /* of words and pieces, which are all bytes of all regions; 0: ask the runtime */
    uint32_t
        within_begins; /* begins of calls that write ranges and the library's memory are told */
    uint64_t heap_end; /* of the pieces that lie in the heap: they can be read as long as ... */
    const uint64_t *break_at; /* ... what this points to, the present break, is not below */
    uint32_t words;           /* that are there */
    uint32_t rest;            /* pieces that are */
    uint64_t stack_lowest, stack_highest; /* of what is watched and may be of a stack; what calls
                                             and pushes store asks these, likewise */
    uint32_t ranges_begin; /* begins of calls that write ranges are told, wherever these are */
    uint32_t tracks;       /* calls that are under way are kept: lane.c */
    struct watch_piece pieces[QUICK_MOST];
    struct watch_word whole[QUICK_MOST];
    /* Copies of the first regions, where they are so short: side by side they take a tenth of the
     * cache's lines that they would take in their regions. */
    uint64_t known[QUICK_MOST];
    const char *alone; /* not 0 there: there is one thread */
    uint32_t skipped; /* comparisons that were not made, or left what they found to another thread's
                         call, ever ... */
    uint32_t compared; /* ... in front of the last one that was made of all regions */
};

_Static_assert(offsetof(struct watch_quick, until) == QUICK_UNTIL, "entry.S");
_Static_assert(offsetof(struct watch_quick, count) == QUICK_COUNT, "entry.S");
_Static_assert(offsetof(struct watch_quick, heap_end) == QUICK_HEAP_END, "entry.S");
_Static_assert(offsetof(struct watch_quick, break_at) == QUICK_BREAK, "entry.S");
_Static_assert(offsetof(struct watch_quick, pieces) == QUICK_PIECES, "entry.S");
_Static_assert(offsetof(struct watch_piece, known) == PIECE_KNOWN, "entry.S");
_Static_assert(offsetof(struct watch_quick, words) == QUICK_WORDS, "entry.S");
_Static_assert(offsetof(struct watch_quick, rest) == QUICK_REST, "entry.S");
_Static_assert(offsetof(struct watch_quick, whole) == QUICK_WHOLE, "entry.S");
_Static_assert(offsetof(struct watch_quick, ranges_begin) == QUICK_RANGES, "entry.S");
_Static_assert(offsetof(struct watch_quick, tracks) == QUICK_TRACKS, "entry.S");
_Static_assert(offsetof(struct watch_quick, alone) == QUICK_ALONE, "entry.S");
_Static_assert(offsetof(struct watch_quick, skipped) == QUICK_SKIPPED, "entry.S");
_Static_assert(offsetof(struct watch_quick, compared) == QUICK_COMPARED, "entry.S");
_Static_assert(sizeof(struct watch_piece) == PIECE_SIZE, "entry.S");
_Static_assert(sizeof(struct watch_word) == PIECE_SIZE, "entry.S");
_Static_assert(PIECE_MOST < 1 << PIECE_BITS, "entry.S");

#endif

#endif
