/* area.h: the data of watched memory that all modules of a process share, and where it is.
 *
 * Each instrumented module has its own copy of the code of watched memory (watch.h). The shared
 * data is at QUIPU_WATCH_AREA, a fixed address ("fixed area"). The first module to start makes it.
 *
 * Invariants
 *   - `armed` is not 0 exactly while there is a region or a request for blocks.
 *   - Regions, chains and counters of the shadow change only under `lock`, with all signals
 *     blocked, while `sequence` is odd. Readers take no lock: they discard what they read during
 *     a change. Memory that a reader may reach is never unmapped.
 *   - Threads read and change a region's copy of its bytes while they pin the region. Its record
 *     is not reused meanwhile. They take no lock, because blocking signals takes two system calls,
 *     which cost more than the rest of a hit. Writes of two threads at the same time are reported
 *     in any order.
 *   - A thread is identified by its thread pointer, which is the same in all modules. Thread-local
 *     variables hold only values that may be another thread's, and the words of loop copies,
 *     because threads that the C library did not make may lack such variables of their own. */
#ifndef QUIPU_RUNTIME_WATCH_AREA_H
#define QUIPU_RUNTIME_WATCH_AREA_H

#include "format/data_file.h"
#include "format/watch.h"
#include "runtime/core/hash.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/quick.h"
#include "runtime/watch/running.h"
#include "runtime/watch/write_lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WATCH_MAGIC QUIPU_WATCH_AREA_MAGIC

enum {
    WATCH_SEGMENTS = 21, /* of regions; segment s has WATCH_FIRST << s */
    WATCH_FIRST = 1024,
    WATCH_LEVELS = 12,
    WATCH_SETS = 256, /* of pairs */
    WATCH_WAYS = 8,
    WATCH_CALL_SETS = 64,
    WATCH_HANDLERS = 128,
    WATCH_CLASSES = 13,      /* of copies: 16 << class bytes */
    WATCH_INLINE = 8,        /* bytes of a copy that are stored in the region's record itself */
    WATCH_BATCH = 16,        /* most regions that one search returns */
    WATCH_UNKNOWN = 1 << 15, /* flag: the copy, or parts of it, were never read */
    WATCH_BLOCK = 1 << 14,   /* flag: of a block of the heap; `handler` is its index + 1 */
    WATCH_FREED = 1 << 13,   /* flag: of a block that has been freed */
    WATCH_LOCAL = 1 << 12,   /* flag: it ends with its activation, to which `handler` points */
    WATCH_STEADY = 1 << 11,  /* flag: in a module, so it is readable */
    WATCH_OWN = 1 << 10,  /* flag: in a module, and no memory that the C library keeps for itself */
    WATCH_HEAP = 1 << 9,  /* flag: in the heap that brk made: readable below the present break */
    WATCH_APART = 1 << 8, /* flag: contains no stack, as far as is known */
    WATCH_FEW = 256,      /* up to so many regions, each comparison is made */
    WATCH_EMPTIED = 64,   /* pages of the shadow that were empty when last looked at */
    WATCH_GIVEN = 16,     /* known buffers of streams, and stacks; if there are more, all memory
                           * counts as one */
    WATCH_THREADS = 256,  /* lists of activations */
    WATCH_OF_THREADS = 1, /* in place of a function's address: for threads */
    WATCH_LOOP_WORDS = 2048,
    WATCH_ASKS_ARMED = 1, /* flags: queries around calls that are armed */
    WATCH_ASKS_BEGINS = 2,
    WATCH_ASKS_LIBRARY = 4,
    WATCH_ASKS_LIBRARY_BEGINS = 8,
};

#define WATCH_NO_FRAME UINT64_MAX /* for the activation of a thread */

struct watch_region {
    uint64_t address;
    uint64_t size;       /* 0: free */
    uint64_t handler;    /* address in the program; 0: made by a request; see WATCH_BLOCK */
    uint64_t argument;   /* argument of the handler; or the request's number */
    uint32_t generation; /* how many regions this record has held; index and generation form the
                          * region's id */
    uint16_t flags;      /* QUIPU_REQUEST_..., WATCH_UNKNOWN, ... */
    uint16_t pins;       /* threads that use the copy; a longjmp out of one leaves it pinned */
    uint32_t next[2]; /* in the chains of its cells: node, 0 at the end; in the free list: index */
    uint32_t previous[2];
    union {
        uint8_t bytes[WATCH_INLINE]; /* as last known */
        uint8_t *copy;               /* if there are more */
    };
};

/* A store between its two calls ("pair"). It is identified by its stack pointer. */
struct watch_pair {
    uint64_t stack;   /* 0: free */
    uint64_t stamp;   /* time of its begin; in a full set, the oldest was left by longjmp */
    uint64_t thread;  /* thread pointer */
    uint64_t address; /* of the first byte that is or may be written */
    uint64_t length;  /* up to the last such byte; 0: nothing is written */
    uint64_t mask; /* one bit for each byte from the address on; of a scatter: for each element */
    uint64_t made; /* value of `made` at the begin */
    struct watch_hold hold;
    uint32_t description; /* QUIPU_STORE_DESCRIPTION */
    bool is_long;         /* too long for `old`: the regions' copies hold the old bytes */
    uint8_t old[64];      /* the old bytes; of a scatter: element behind element */
    uint64_t addresses[16];
};

/* A range of the program's memory. */
struct watch_range {
    uint64_t address;
    uint64_t length;
};

/* A call of a known function, until it returns. */
struct watch_call {
    uint64_t stack; /* stack pointer at the call, as of a pair */
    uint64_t stamp;
    uint64_t thread;      /* thread pointer */
    uint32_t tid;         /* the kernel's number of the thread, if there are ranges */
    uint32_t callee;      /* its row in the table of callees */
    uint32_t skipped;     /* value as in struct watch_quick, at the begin */
    uint32_t given_freed; /* bit n: argument n pointed into a freed block at the begin */
    struct watch_range ranges[3];
    uint64_t arguments[6];
    uint64_t releases[3]; /* of the write locks of its ranges, counted at the begin */
};

/* A request for blocks of the heap. */
struct watch_heap {
    uint32_t request; /* its number */
    bool active;
    uint32_t flags;
    uint64_t bias; /* of its module */
    const struct quipu_watch_range *ranges;
    uint32_t range_count;
    uint64_t offset, size;   /* the watched bytes of each block */
    uint64_t numbers;        /* blocks, ever */
    uint32_t freed;          /* freed blocks among the present ones */
    uint32_t oldest, newest; /* of the freed ones: index + 1 */
};

/* A block of the heap, for one request. */
struct watch_block {
    uint64_t address, size;             /* what is left of it */
    uint64_t whole_address, whole_size; /* as it was allocated */
    uint64_t freed;                     /* as in struct quipu_block */
    uint64_t moving;                    /* stack pointer of the call that may move it; 0: none */
    int64_t region;   /* its id; 0: the record is free, or another thread has got the memory */
    uint64_t number;  /* 0: the record is free */
    uint32_t heap;    /* index of its request */
    uint32_t next;    /* in its bucket, or of free records: index + 1 */
    uint32_t earlier; /* the next older freed block: index + 1 */
    uint32_t later;
};

/* A thread that runs a handler of the program. */
struct watch_handler {
    uint64_t thread; /* its thread pointer; 0: free */
    uint64_t frame;  /* frame of the handler's caller: address of a word that holds WATCH_MAGIC */
};

/* A request that is watched in each call of a function, or in each thread. */
struct watch_local {
    uint64_t function; /* its first byte; 0: none; WATCH_OF_THREADS */
    int64_t offset;    /* from the CFA, or from the thread pointer */
    uint64_t size;
    uint32_t flags; /* QUIPU_REQUEST_... */
};

/* A watched local of a call that has not ended. */
struct watch_activation {
    struct watch_activation *next; /* an older one in its list; or the next free one */
    uint64_t thread;               /* thread pointer */
    uint64_t frame;                /* CFA: directly above the return address; WATCH_NO_FRAME */
    uint64_t back;                 /* that return address */
    int64_t id;                    /* of the region */
    uint32_t request;
    uint32_t pid, tid;
};

/* A thread's loop word in one module: not 0 while it runs a loop copy. */
struct watch_loop_word {
    const uint64_t *word;
    uint64_t thread; /* thread pointer */
};

/* The part that is zero in a forked child, whatever other threads did. */
struct watch_wiped {
    uint32_t lock; /* futex: 0 free, 1 held, 2 held with waiters */
    uint32_t pid;  /* 0: not asked yet */
    uint64_t sequence;
    uint64_t closed;  /* stores and calls whose writes were reported, ever */
    uint32_t running; /* threads that ever recorded calls */
    _Alignas(64) struct watch_write_lock write_locks[WATCH_WRITE_LOCKS];
};

/* An instrumented module, whose checks may be armed (sites.c). */
struct watch_module {
    struct watch_module *next;
    uint64_t begin, end;   /* its addresses */
    long (*prepare)(void); /* called first */
    long (*arm_variables)(uint64_t address, uint64_t end);
    long (*arm_stack)(void);
    long (*arm_calls)(unsigned asked);
    void (*visit)(const char *path);
    long (*arm_function)(uint64_t function); /* returns how many entries the function has */
    long (*lead_threads)(uint64_t begin, uint64_t end);
    struct watch_range variables[4]; /* its segments, all readable */
    bool has_library;                /* it contains the C library's variables */
    long (*close_loops)(bool close); /* closes or opens the loop copies */
    bool prepared;
    bool stack_is_back;
    bool calls_are_back;    /* calls through pointers report all callees */
    unsigned asked;         /* queries around its calls that are armed: WATCH_ASKS_... */
    bool tells_frames;      /* checks of stores that may leave a frame are armed, for locals */
    const uint32_t *sorted; /* sites of variables, sorted by address */
    uint64_t count;
    uint64_t longest;              /* most bytes of a site's store */
    uint64_t text_begin, text_end; /* addresses of its first and last site */
};

struct watch {
    uint8_t armed;
    uint8_t library_begins; /* quick.c */
    uint8_t library;
    uint8_t begins;
    uint32_t calling; /* calls with a record; more where a longjmp left some */
    uint64_t magic;   /* written last */
    uint32_t version;
    uint32_t size; /* of this struct: other builds may have other members */
    uint32_t no_shadow;
    uint32_t visited; /* visit.c */
    uint64_t visit;
    int64_t answer;
    struct quipu_watch_file *file; /* NULL: none */
    uint32_t count;                /* regions */
    uint32_t trapping;             /* a thread shall get SIGTRAP (trap.c) */
    /* offset 64: regions */
    struct watch_region *segments[WATCH_SEGMENTS];
    uint32_t used;  /* indices in use or free */
    uint32_t free;  /* first free one: index + 1 */
    uint32_t limbo; /* first and last that is free but still pinned: index + 1 */
    uint32_t limbo_end;
    uint32_t levels; /* bit mask of levels that have regions */
    uint32_t level_counts[WATCH_LEVELS];
    uint64_t made;         /* regions, ever */
    uint32_t unread;       /* regions whose bytes must be read before the next call ... */
    uint32_t unread_room;  /* ... and room for their indices; if there are more, any region may be
                            * one */
    uint32_t *unread_list; /* indices; a region may be gone, or be listed twice */
    uint64_t buckets;      /* page address of the chains' first nodes (2 * index + cell number + 1),
                            * plus the logarithm of their number: one word, so readers see both of
                            * one state */
    void *counters;        /* of granules, if there is no shadow */
    uint8_t *open_pieces; /* one bit for each piece of the shadow, set if it is writable; NULL: none
                             is */
    uint64_t emptied[WATCH_EMPTIED]; /* addresses; 0: none */
    uint32_t emptied_count;          /* ever: gives the index of the oldest one */
    /* copies */
    uint8_t *free_copies[WATCH_CLASSES];
    uint8_t *chunk;
    uint64_t chunk_left;
    /* the watch file */
    uint64_t file_size;
    uint32_t file_number;     /* files so far */
    int64_t *request_regions; /* region ids by request number; 0: none */
    uint32_t request_room;
    uint32_t consumer_gone;
    /* blocks of the heap */
    struct watch_heap *heaps; /* room for as many as the first file had for requests */
    uint32_t heap_room;
    uint32_t heap_count; /* ever */
    uint32_t heaps_active;
    struct watch_block *block_segments[WATCH_SEGMENTS]; /* like those of regions */
    uint32_t blocks_used;                               /* indices in use or free */
    uint32_t block_count;
    uint32_t free_block;    /* index + 1 */
    uint32_t freed_blocks;  /* watched ones */
    uint32_t block_regions; /* regions that belong to blocks */
    uint32_t others_end;    /* largest index + 1 that a region of no block ever had */
    uint64_t block_buckets; /* like `buckets`, by block address: index + 1 */
    /* watched locals */
    struct watch_local *locals; /* by request number */
    uint32_t local_count;
    uint32_t local_room;
    uint32_t activations; /* present number ... */
    uint32_t next_look;   /* ... and the number at which ended threads are looked for */
    struct watch_activation *free_activations;
    struct watch_activation *threads[WATCH_THREADS]; /* by thread pointer, newest first */
    /* sites, by module */
    struct watch_module *modules;
    bool stacks_apart;    /* regions were added that are no stack as long as there is one thread */
    bool stacks_anywhere; /* some function's stack pointer may point to a variable */
    struct watch_range stacks[WATCH_GIVEN]; /* known stacks in variables, the heap, or frames */
    uint32_t stack_count;
    uint64_t heap_begin, heap_end; /* the break at the start, and when last read */
    /* quick.c */
    uint32_t unsteady; /* regions without WATCH_STEADY ... */
    uint32_t shared;   /* ... and without WATCH_OWN */
    bool unsettled;    /* regions were added, removed, or read since the pieces were last listed */
    struct watch_range given[WATCH_GIVEN]; /* memory to which streams may write at any time */
    uint32_t given_count;
    bool pages_hidden; /* variables may be unreadable */
    unsigned asked;    /* queries armed around calls of all modules: WATCH_ASKS_... */
    uint32_t doubted;  /* those of WATCH_STEADY and WATCH_OWN that are not valid for any region */
    /* running.c */
    bool guards; /* something is or was guarded */
    bool waits;  /* writers of some region wait for answers, or did */
    char no_one; /* always 0 */
    bool main_has_checks;
    bool is_late; /* regions were added while unrecorded calls may have been running */
    /* loop copies */
    uint32_t loop_words; /* known ones */
    bool loops_closed;   /* all backward jumps of the copies lead to the checked loops */
    uint64_t loops_time; /* when closing was last needed, in cycles */
    /* the thread that shall get SIGTRAP, in frames above that address */
    uint64_t trap_thread, trap_stack;
    uint32_t trap_cause; /* as in a hit */
    /* fork */
    uint64_t forking; /* thread pointer of the thread that holds the lock for a fork */
    uint64_t fork_mask;
    uint32_t fork_depth;
};

#define ADDRESSES_END ((uint64_t)1 << 47)

#define WATCH          ((struct watch *)QUIPU_WATCH_AREA)
#define WATCH_WIPED    ((struct watch_wiped *)(QUIPU_WATCH_AREA + 0x2000))
#define WATCH_CALLS_OF ((struct watch_handler *)(QUIPU_WATCH_AREA + 0x4000))
#define WATCH_WORDS    ((struct watch_loop_word *)(QUIPU_WATCH_AREA + 0xa1000))
#define WATCH_CALLS    ((struct watch_call *)(QUIPU_WATCH_AREA + 0xe0000))
#define WATCH_RUNNING  ((struct watch_running *)WATCH_RUNNING_AT)
#define WATCH_QUICK    ((struct watch_quick *)WATCH_QUICK_AT)
#define WATCH_PAIRS    ((struct watch_pair *)(QUIPU_WATCH_AREA + 0x10000))

_Static_assert(offsetof(struct watch, segments) == 64, "the contract's offset");
_Static_assert(offsetof(struct watch, calling) == QUIPU_WATCH_CALLING - QUIPU_WATCH_AREA,
               "the contract's offset");
_Static_assert(offsetof(struct watch, segments) == sizeof(struct quipu_watch_area) &&
                   offsetof(struct watch, magic) == offsetof(struct quipu_watch_area, magic) &&
                   offsetof(struct watch, visited) == offsetof(struct quipu_watch_area, visited) &&
                   offsetof(struct watch, file) == offsetof(struct quipu_watch_area, file) &&
                   offsetof(struct watch, count) == offsetof(struct quipu_watch_area, count),
               "the contract's offsets");
_Static_assert(QUIPU_WATCH_LOCK == QUIPU_WATCH_AREA + 0x2000, "where WATCH_WIPED begins");
_Static_assert(sizeof(struct watch) <= 0x2000, "the area's first pages");
_Static_assert(offsetof(struct watch, no_shadow) == 0x18, "entry.S");
_Static_assert(offsetof(struct watch, trapping) == 0x3c, "entry.S");
_Static_assert(WATCH_QUICK_AT == QUIPU_WATCH_AREA + 0x6000, "the area's address");
_Static_assert(WATCH_RUNNING_AT == QUIPU_WATCH_AREA + 0xb0000, "the area's address");
_Static_assert(
    WATCH_QUICK_AT + offsetof(struct watch_quick, lowest) == QUIPU_WATCH_LOWEST &&
        WATCH_QUICK_AT + offsetof(struct watch_quick, highest) == QUIPU_WATCH_HIGHEST &&
        WATCH_QUICK_AT + offsetof(struct watch_quick, far) == QUIPU_WATCH_FAR &&
        WATCH_QUICK_AT + offsetof(struct watch_quick, highest_wide) == QUIPU_WATCH_HIGHEST_WIDE &&
        WATCH_QUICK_AT + offsetof(struct watch_quick, within_begins) == QUIPU_WATCH_WITHIN_BEGINS &&
        WATCH_QUICK_AT + offsetof(struct watch_quick, ranges_begin) == QUIPU_WATCH_RANGES_BEGIN &&
        WATCH_QUICK_AT + offsetof(struct watch_quick, stack_lowest) == QUIPU_WATCH_STACK_LOWEST &&
        WATCH_QUICK_AT + offsetof(struct watch_quick, stack_highest) == QUIPU_WATCH_STACK_HIGHEST,
    "the contract's addresses");
_Static_assert(0x6000 + sizeof(struct watch_quick) <= 0x10000, "room in front of the pairs");
_Static_assert(offsetof(struct watch, library) == QUIPU_WATCH_LIBRARY - QUIPU_WATCH_AREA &&
                   offsetof(struct watch, library_begins) ==
                       QUIPU_WATCH_LIBRARY_BEGINS - QUIPU_WATCH_AREA &&
                   offsetof(struct watch, begins) == QUIPU_WATCH_BEGINS - QUIPU_WATCH_AREA &&
                   offsetof(struct watch, magic) == QUIPU_WATCH_ALWAYS - QUIPU_WATCH_AREA,
               "the contract's offsets");
_Static_assert(0x4000 + sizeof(struct watch_handler) * WATCH_HANDLERS <= 0x6000,
               "room for handlers in front of WATCH_QUICK");
_Static_assert(QUIPU_WATCH_PATH + QUIPU_WATCH_PATH_MAX <= QUIPU_WATCH_AREA + 0xa1000 &&
                   0xa1000 + sizeof(struct watch_loop_word) * WATCH_LOOP_WORDS <= 0xb0000,
               "room for words of loops above the path, below the running calls");
_Static_assert(0xb0000 + sizeof(struct watch_running) * WATCH_RUNNING_MAX <= 0xc8000,
               "room for the running calls below the stack of a visit, and that");
_Static_assert(sizeof(struct watch_region) == 64, "memory for each region");
_Static_assert(sizeof(struct watch_write_lock) == 64, "a line of the cache");
_Static_assert(RUNNING_COMPARED == QUIPU_CALL_COMPARED, "the contract's flag");
_Static_assert((int)WATCH_SUSPECTS == (int)QUIPU_CANDIDATES_MAX, "room in a hit");
_Static_assert(sizeof(struct watch_wiped) <= QUIPU_PAGE, "what is made zero in a child");
_Static_assert(0x10000 + sizeof(struct watch_pair) * WATCH_SETS * WATCH_WAYS <=
                   QUIPU_WATCH_PATH - QUIPU_WATCH_AREA,
               "room in front of a visit's path and stack");
_Static_assert(0xe0000 + sizeof(struct watch_call) * WATCH_CALL_SETS * WATCH_WAYS <=
                   QUIPU_WATCH_AREA_SIZE,
               "the area's size");

/* ---- Small helpers ---- */

/* Without a call of the C library. It is fast enough for this use. */
static inline void copy_bytes(void *to, const void *from, uint64_t count) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static inline uint64_t round_to_page(uint64_t size) {
    return (size + QUIPU_PAGE - 1) & -(uint64_t)QUIPU_PAGE;
}

static inline uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t greater(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Whether one of the ranges overlaps [ADDRESS, END). */
static inline bool overlaps_any(const struct watch_range *ranges, uint32_t count, uint64_t address,
                                uint64_t end) {
    for (uint32_t i = 0; i < count; i++)
        if (address < ranges[i].address + ranges[i].length && ranges[i].address < end)
            return true;
    return false;
}

static inline struct watch_region *region_at(uint32_t index) {
    uint64_t place = (uint64_t)index + WATCH_FIRST;
    unsigned segment = 63 - (unsigned)__builtin_clzll(place) - 10;
    struct watch_region *regions = WATCH->segments[segment];
    return regions ? regions + (place - ((uint64_t)WATCH_FIRST << segment)) : NULL;
}

/* A cell of a level has 1 << shift_of(level) bytes. */
static inline unsigned shift_of(unsigned level) {
    return QUIPU_WATCH_GRANULE_BITS + 4 * level;
}

/* Logarithm of the number of buckets. */
static inline unsigned bits_of(uint64_t buckets) {
    return buckets & (QUIPU_PAGE - 1);
}

static inline uint32_t *bucket_of(uint64_t cell, unsigned level) {
    uint64_t buckets = __atomic_load_n(&WATCH->buckets, __ATOMIC_RELAXED);
    unsigned bits = bits_of(buckets);
    return (uint32_t *)(buckets - bits) + (scatter_bits(cell << 4 | level) >> (64 - bits));
}

static inline unsigned which_of(uint32_t node) {
    return (node - 1) & 1;
}

/* The copy of the bytes of a region of SIZE bytes. */
static inline uint8_t *copy_of(struct watch_region *region, uint64_t size) {
    uint64_t index = (uint64_t)(region - WATCH->segments[0]);
    if (size > WATCH_INLINE)
        return region->copy;
    return index < QUICK_MOST ? (uint8_t *)&WATCH_QUICK->known[index] : region->bytes;
}

static inline uint8_t *bytes_of(struct watch_region *region) {
    return copy_of(region, region->size);
}

/* Whether this thread holds the lock already, because it runs a handler of pthread_atfork. */
static inline bool is_forking(void) {
    return __atomic_load_n(&WATCH->forking, __ATOMIC_RELAXED) == thread_pointer();
}

#endif
