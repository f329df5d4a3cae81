/* lane.h: calls that threads have under way, and who else may have changed what is found
 * changed; see lane.c.
 *
 * Assembly and C read this. */
#ifndef QUIPU_RUNTIME_WATCH_LANE_H
#define QUIPU_RUNTIME_WATCH_LANE_H

#define LANE_CALLS     8 /* of a thread that are known */
#define LANE_THREAD    0 /* offsets of the members below */
#define LANE_DEPTH     12
#define LANE_EVENTS    16
#define LANE_FIRST     64
#define LANE_CALL_SIZE 40
#define LANE_CALL_STUB 8
#define LANE_CALL_LOW  16
#define LANE_CALL_HIGH 24
#define LANE_CALL_TOLD 32
#define LANE_SIZE      384
#define LANE_COMPARED  0x2000000 /* QUIPU_CALL_COMPARED */

#define WATCH_LANE_AT 0x6ffb0000

/* The parts of quipu_watch_own. */
#define OWN_LANE       0xffff
#define OWN_THREAD_AT  16
#define OWN_PROCESS_AT 40
#define OWN_NUMBER     0xffffff

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WATCH_LANES = 256, /* threads that are known */
    WATCH_SUSPECTS = 7,
};

struct watch_under_way {
    uint64_t stack;     /* stack pointer at the call */
    uint64_t stub;      /* return address of what told of its begin */
    uint64_t low, high; /* where it may write by its arguments */
    uint32_t told;      /* QUIPU_CALL(...) */
    uint32_t reserved;
};

/* A thread's, which alone changes it while it is its own. */
struct watch_lane {
    uint64_t thread; /* thread pointer; 0: free */
    uint32_t tid;
    uint32_t depth;  /* calls that are under way; of more than LANE_CALLS the later are not known */
    uint64_t events; /* calls that have begun or ended, ever */
    uint64_t left_stub;   /* the last jump out of a function that it has told of; 0: none */
    uint32_t left_told;   /* QUIPU_CALL(...) */
    uint32_t left_number; /* of `skipped` (quick.h), which counted it */
    uint64_t reserved[3];
    struct watch_under_way calls[LANE_CALLS];
};

_Static_assert(sizeof(struct watch_lane) == LANE_SIZE, "entry.S");
_Static_assert(offsetof(struct watch_lane, thread) == LANE_THREAD, "entry.S");
_Static_assert(offsetof(struct watch_lane, depth) == LANE_DEPTH, "entry.S");
_Static_assert(offsetof(struct watch_lane, events) == LANE_EVENTS, "entry.S");
_Static_assert(offsetof(struct watch_lane, calls) == LANE_FIRST, "entry.S");
_Static_assert(sizeof(struct watch_under_way) == LANE_CALL_SIZE, "entry.S");
_Static_assert(offsetof(struct watch_under_way, stub) == LANE_CALL_STUB, "entry.S");
_Static_assert(offsetof(struct watch_under_way, low) == LANE_CALL_LOW, "entry.S");
_Static_assert(offsetof(struct watch_under_way, high) == LANE_CALL_HIGH, "entry.S");
_Static_assert(offsetof(struct watch_under_way, told) == LANE_CALL_TOLD, "entry.S");

struct watch_region;

/* Who else may have changed bytes. */
struct watch_suspects {
    uint32_t count;
    bool more; /* others, which are not known */
    struct {
        uint64_t stub;
        uint32_t told, tid;
    } calls[WATCH_SUSPECTS];
};

/* What a thread keeps in thread-local storage, of which loaded modules have little, for each
 * module, in one word: the number of its lane, from 1 on, in 16 bits; the kernel's number of the
 * thread, and the process that it had that in, in 24 bits each (the kernel gives no higher ones
 * than 22 bits hold).  Each of them 0: not asked yet. */
extern __thread uint64_t quipu_watch_own;
/* The kernel's number of the calling thread, in process PID, its own: to ask the kernel costs as
 * much as all else about a hit. */
uint32_t quipu_watch_thread(uint32_t pid);

/* The calling thread has begun a call, as in struct watch_under_way; STUB and TOLD say which. */
void quipu_watch_go_under_way(const struct watch_under_way *call);
/* The row of its call at STACK that is under way; 0: it is not known. */
uint32_t quipu_watch_row_under_way(uint64_t stack);
/* Its call at STACK has come back. */
void quipu_watch_come_back(uint64_t stack);

/* Whether the process has no other thread now. */
bool quipu_watch_is_only_thread(void);
/* How many calls of other threads have begun or ended, ever. */
uint64_t quipu_watch_events(void);
/* Whether another thread has had a call under way that is known to write to [ADDRESS, END), since
 * EVENTS was taken. */
bool quipu_watch_writes_elsewhere(uint64_t address, uint64_t end, uint64_t events);
/* Sets SUSPECTS: who but the calling thread's call at STACK may have changed [LOW, HIGH) of REGION
 * since it was looked at last.  IS_STRONG: that call is known to write there. */
void quipu_watch_suspect(const struct watch_region *region, uint64_t low, uint64_t high,
                         uint64_t stack, bool is_strong, struct watch_suspects *suspects);

/* The calling thread ends a function by a jump at STACK, as in struct watch_under_way, to what it
 * does not come back from there. */
void quipu_watch_leave(uint64_t stack, uint64_t stub, uint32_t told);
/* Adds to SUSPECTS who may have changed something since comparison NUMBER was skipped. */
void quipu_watch_suspect_skipped(uint32_t number, struct watch_suspects *suspects);

/* Behind a call nothing was compared, or what had changed was left to another: what is found later
 * may be its. */
void quipu_watch_note_skipped(void);

#endif

#endif
