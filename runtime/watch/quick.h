/* quick.h: data for fast checks around calls, at a fixed address. entry.S reads it and returns at
 * once where there is nothing to do. quick.c maintains it.
 *
 * Assembly and C include this. */
#ifndef QUIPU_RUNTIME_WATCH_QUICK_H
#define QUIPU_RUNTIME_WATCH_QUICK_H

#define WATCH_QUICK_AT 0x6ff06000 /* QUIPU_WATCH_AREA + 0x6000 */
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
#define QUICK_CALL     10352
#define QUICK_NUMBER   10360
#define PIECE_BITS     7 /* low bits of a piece's `place`, which hold its size */
#define PIECE_KNOWN    8
#define PIECE_SIZE     16

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

enum {
    QUICK_MOST = 256, /* pieces */
    PIECE_MOST = 64,  /* bytes; a piece does not cross a multiple of this size */
};

/* Bytes of a region, and their last known values. Address and size share one word, so a reader
 * without the lock sees both of one state and reads only memory of a piece. */
struct watch_piece {
    uint64_t place; /* address << PIECE_BITS | size */
    const uint8_t *known;
};

/* A piece of 8 bytes, as most are. All memory that was ever entered here is readable in whole
 * words, so a reader may see `address` and `known` of two states. */
struct watch_word {
    const uint64_t *address;
    const uint64_t *known;
};

struct watch_quick {
    uint64_t until; /* time stamp before which no comparison is made; 0: there are few regions */
    uint64_t lowest, highest;   /* all regions are in [LOWEST, HIGHEST) */
    uint64_t far, highest_wide; /* bounds for loops: format/watch.h, section 2 */
    uint32_t count; /* of words and pieces, which contain all bytes of all regions; 0: call the
                       runtime */
    uint32_t within_begins; /* report begins of calls that write ranges and the library's memory */
    uint64_t heap_end;      /* end of the pieces in the heap: they are readable as long as ... */
    const uint64_t *break_at; /* ... the present break, to which this points, is not below it */
    uint32_t words;           /* number of words in use */
    uint32_t rest;            /* number of pieces in use */
    uint64_t stack_lowest, stack_highest; /* bounds of regions that may be in a stack; the checks of
                                           * calls and pushes read these */
    uint32_t ranges_begin; /* report begins of calls that write ranges, wherever the ranges are */
    uint32_t tracks;       /* running calls are recorded: running.c */
    struct watch_piece pieces[QUICK_MOST];
    struct watch_word whole[QUICK_MOST];
    /* Copies of the first regions, if they are short enough. Side by side they take a tenth of the
     * cache lines that they would take in their regions. */
    uint64_t known[QUICK_MOST];
    const char *alone; /* points to a byte that is not 0 while there is one thread */
    uint32_t skipped;  /* comparisons that were not made, or left a change to another thread's call,
                        * ever ... */
    uint32_t compared; /* ... and that number at the last comparison of all regions */
    uint64_t skipped_call; /* behind which a comparison was skipped last: its stub, and from bit 48
                            * on the higher half of `descriptor`, as in struct watch_running_call;
                            * 0: none */
    uint32_t skipped_number; /* its value of `skipped` */
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
_Static_assert(offsetof(struct watch_quick, skipped_call) == QUICK_CALL, "entry.S");
_Static_assert(offsetof(struct watch_quick, skipped_number) == QUICK_NUMBER, "entry.S");
_Static_assert(sizeof(struct watch_piece) == PIECE_SIZE, "entry.S");
_Static_assert(sizeof(struct watch_word) == PIECE_SIZE, "entry.S");
_Static_assert(PIECE_MOST < 1 << PIECE_BITS, "entry.S");

#endif

#endif
