/* running.h: the running calls of each thread, from which the runtime finds who else may have made
 * a change. See running.c.
 *
 * Assembly and C include this. */
#ifndef QUIPU_RUNTIME_WATCH_RUNNING_H
#define QUIPU_RUNTIME_WATCH_RUNNING_H

#define RUNNING_CALLS           8 /* recorded calls of a thread */
#define RUNNING_THREAD          0 /* offsets of the members below */
#define RUNNING_DEPTH           12
#define RUNNING_EVENTS          16
#define RUNNING_FIRST           64
#define RUNNING_CALL_SIZE       40
#define RUNNING_CALL_STUB       8
#define RUNNING_CALL_LOW        16
#define RUNNING_CALL_HIGH       24
#define RUNNING_CALL_DESCRIPTOR 32
#define RUNNING_SIZE            384
#define RUNNING_COMPARED        0x2000000 /* QUIPU_CALL_COMPARED */

#define WATCH_RUNNING_AT 0x6ffb0000

/* Bit fields of quipu_watch_own. */
#define OWN_RUNNING    0xffff
#define OWN_THREAD_AT  16
#define OWN_PROCESS_AT 40
#define OWN_NUMBER     0xffffff

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WATCH_RUNNING_MAX = 256, /* recorded threads */
    WATCH_SUSPECTS = 7,
};

struct watch_running_call {
    uint64_t stack;      /* stack pointer at the call */
    uint64_t stub;       /* return address of the code that reported its begin */
    uint64_t low, high;  /* range that its arguments let it write */
    uint32_t descriptor; /* QUIPU_CALL(...) */
    uint32_t reserved;
};

/* The call records of one thread. Only the owner changes them. */
struct watch_running {
    uint64_t thread; /* thread pointer; 0: free */
    uint32_t tid;
    uint32_t depth; /* running calls; if more than RUNNING_CALLS, the later ones are not recorded */
    uint64_t events;          /* calls that began or ended, ever */
    uint64_t left_stub;       /* the last jump or call that did not return; 0: none */
    uint32_t left_descriptor; /* QUIPU_CALL(...) */
    uint32_t left_number;     /* value of `skipped` (quick.h) that counted it */
    uint64_t reserved[3];
    struct watch_running_call calls[RUNNING_CALLS];
};

_Static_assert(sizeof(struct watch_running) == RUNNING_SIZE, "entry.S");
_Static_assert(offsetof(struct watch_running, thread) == RUNNING_THREAD, "entry.S");
_Static_assert(offsetof(struct watch_running, depth) == RUNNING_DEPTH, "entry.S");
_Static_assert(offsetof(struct watch_running, events) == RUNNING_EVENTS, "entry.S");
_Static_assert(offsetof(struct watch_running, calls) == RUNNING_FIRST, "entry.S");
_Static_assert(sizeof(struct watch_running_call) == RUNNING_CALL_SIZE, "entry.S");
_Static_assert(offsetof(struct watch_running_call, stub) == RUNNING_CALL_STUB, "entry.S");
_Static_assert(offsetof(struct watch_running_call, low) == RUNNING_CALL_LOW, "entry.S");
_Static_assert(offsetof(struct watch_running_call, high) == RUNNING_CALL_HIGH, "entry.S");
_Static_assert(offsetof(struct watch_running_call, descriptor) == RUNNING_CALL_DESCRIPTOR,
               "entry.S");

struct watch_region;

/* Other calls that may have changed bytes. */
struct watch_suspects {
    uint32_t count;
    bool more; /* further candidates, which are not listed */
    struct {
        uint64_t stub;
        uint32_t descriptor, tid;
    } calls[WATCH_SUSPECTS];
};

/* The state that a thread keeps in thread-local storage for each module. It is one word, because
 * loaded modules have little room there. 16 bits: the number of its call records plus 1. 24 bits
 * each: the kernel's number of the thread, and of the process in which it got that number (the
 * kernel gives numbers of at most 22 bits). A field is 0 until it is first needed. */
extern __thread uint64_t quipu_watch_own;
/* Returns the kernel's number of the calling thread. PID is its process. The number is cached,
 * because asking the kernel costs as much as the rest of a hit. */
uint32_t quipu_watch_thread(uint32_t pid);

/* Records that the calling thread has begun CALL. STUB and DESCRIPTOR identify it. */
void quipu_watch_call_begins(const struct watch_running_call *call);
/* Returns the row of the calling thread's running call at STACK, or 0 if it is not recorded. */
uint32_t quipu_watch_running_row(uint64_t stack);
/* The calling thread's call at STACK has returned. */
void quipu_watch_call_ends(uint64_t stack);

/* Whether the process has one thread at present. */
bool quipu_watch_is_only_thread(void);
/* Returns how many calls of other threads began or ended, ever. */
uint64_t quipu_watch_events(void);
/* Whether another thread has had a running call that is known to write to [ADDRESS, END) since
 * EVENTS was taken. */
bool quipu_watch_writes_elsewhere(uint64_t address, uint64_t end, uint64_t events);
/* Finds the innermost call of the calling thread that is running, began above STACK, and may write
 * to [LOW, HIGH) of REGION. */
bool quipu_watch_find_outer(const struct watch_region *region, uint64_t low, uint64_t high,
                            uint64_t stack, struct watch_running_call *outer);
/* Sets SUSPECTS to the calls that may have changed [LOW, HIGH) of REGION since it was last
 * compared, besides the calling thread's call at STACK. IS_STRONG: that call is known to write
 * there. NAMED is as in struct watch_write. */
void quipu_watch_suspect(const struct watch_region *region, uint64_t low, uint64_t high,
                         uint64_t stack, bool is_strong, uint64_t named,
                         struct watch_suspects *suspects);

/* The calling thread leaves a function by a jump at STACK, with STUB and DESCRIPTOR as in struct
 * watch_running_call. The jump's target does not return to it. */
void quipu_watch_leave(uint64_t stack, uint64_t stub, uint32_t descriptor);
/* An exception or longjmp has led the calling thread to a function whose stack pointer is STACK.
 * The calls below do not return. */
void quipu_watch_came_back(uint64_t stack);
/* Adds to SUSPECTS the calls that may have changed something since comparison NUMBER was
 * skipped. NAMED likewise. */
void quipu_watch_suspect_skipped(uint32_t number, uint64_t named, struct watch_suspects *suspects);

/* Counts a comparison that was not made behind a call, or a change that was left to another call. A
 * change that is found later may be due to that call. Returns the new number. */
uint32_t quipu_watch_count_skipped(void);
/* Does the same, and records the call as the last one. STUB and DESCRIPTOR are as in struct
 * watch_running_call. */
uint32_t quipu_watch_note_skipped(uint64_t stub, uint32_t descriptor);

#endif

#endif
