/* quipu.h: what an instrumented program can ask about its own run.
 *
 * In a program that was not built by quipu, or not with the mode that a function needs, all of
 * these cost next to nothing and say so.  Every function may be called from any thread and from
 * signal handlers.  Link with nothing: what is called comes with the instrumented code. */
#ifndef QUIPU_H
#define QUIPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Events: --quipu=event ---- */

/* Kinds of events.  Which of them are counted is chosen by --quipu-event=KIND. */
enum quipu_kind {
    QUIPU_INSTRUCTIONS = 0,
    QUIPU_BLOCKS = 1,             /* basic blocks */
    QUIPU_BRANCHES = 2,           /* conditional jumps */
    QUIPU_BRANCHES_TAKEN = 3,     /* of those */
    QUIPU_BRANCHES_NOT_TAKEN = 4, /* of those */
    QUIPU_CALLS = 5,
    QUIPU_RETURNS = 6,
    QUIPU_LOADS = 7,  /* operands read from memory */
    QUIPU_STORES = 8, /* operands written to memory */
    QUIPU_BYTES_LOADED = 9,
    QUIPU_BYTES_STORED = 10,
    QUIPU_FLOATING_POINT = 11,
    QUIPU_VECTOR = 12,
    QUIPU_ATOMIC = 13,
    /* from 16 on: classes of one's own, --quipu-event=NAME=PATTERN; quipu_kind_named tells which */
    QUIPU_NO_KIND = 32
};

/* What is returned where nothing is counted. */
#define QUIPU_NOT_INSTRUMENTED UINT64_MAX

/* Not for callers. */
extern uint64_t quipu_runtime_events(unsigned kind) __attribute__((weak));
extern uint64_t quipu_runtime_events_at(unsigned kind, const void *context) __attribute__((weak));
extern unsigned quipu_runtime_kind(const char *name) __attribute__((weak));

/* Returns how many events of KIND the calling thread has had in instrumented code, exactly, the
 * call of this function included; or QUIPU_NOT_INSTRUMENTED. */
static inline uint64_t quipu_events(enum quipu_kind kind) {
    return quipu_runtime_events ? quipu_runtime_events((unsigned)kind) : QUIPU_NOT_INSTRUMENTED;
}

/* In a signal handler: how many the calling thread had had when the signal interrupted it, whatever
 * the instruction.  CONTEXT is the handler's third argument. */
static inline uint64_t quipu_events_at(enum quipu_kind kind, const void *context) {
    return quipu_runtime_events_at ? quipu_runtime_events_at((unsigned)kind, context)
                                   : QUIPU_NOT_INSTRUMENTED;
}

/* Returns the kind that --quipu-event calls NAME, such as "loads" or a class of one's own, or
 * QUIPU_NO_KIND where it is not counted, or not in the same way in all files.  Names are searched:
 * keep what is returned where time matters. */
static inline enum quipu_kind quipu_kind_named(const char *name) {
    return quipu_runtime_kind ? (enum quipu_kind)quipu_runtime_kind(name) : QUIPU_NO_KIND;
}

/* quipu_events of that kind. */
static inline uint64_t quipu_events_named(const char *name) {
    return quipu_events(quipu_kind_named(name));
}

/* ---- Moments: --quipu=moment ---- */

/* A moment of the run: the thread (1 is the first that ran instrumented code, 2 the next), its
 * ticks, which are backward branches, and calls and returns of instrumented functions, and where it
 * goes on.  No thread is twice at one address with the same ticks. */
struct quipu_moment {
    uint64_t ticks;
    uint64_t address;
    uint32_t thread;
    uint32_t instrumented; /* 0: nothing is known, since the program was not built with it */
};

/* Not for callers. */
extern void quipu_runtime_now(struct quipu_moment *moment) __attribute__((weak));
extern int quipu_runtime_after(uint64_t ticks, void (*handler)(const struct quipu_moment *, void *),
                               void *argument) __attribute__((weak));

/* A moment as text, with its NUL, is at most as long as a function's name and this. */
#define QUIPU_MOMENT_SIZE 80

extern uint64_t quipu_runtime_print(const struct quipu_moment *moment, char *text, uint64_t size)
    __attribute__((weak));
extern int quipu_runtime_parse(const char *text, struct quipu_moment *moment) __attribute__((weak));

/* Writes MOMENT into the SIZE bytes at TEXT as 'quipu goto' takes it:
 * "FUNCTION+OFFSET@TICKS/THREAD~BUILD".  Returns its length, or 0 where it does not fit or the
 * program was not built with --quipu=moment. */
static inline uint64_t quipu_print_moment(const struct quipu_moment *moment, char *text,
                                          uint64_t size) {
    return quipu_runtime_print ? quipu_runtime_print(moment, text, size) : 0;
}

/* Reads what quipu_print_moment wrote in a run of this program.  Returns 0; -1 where TEXT is no
 * moment, or of another build. */
static inline int quipu_parse_moment(const char *text, struct quipu_moment *moment) {
    return quipu_runtime_parse ? quipu_runtime_parse(text, moment) : -1;
}

/* Returns the calling thread's present moment. */
static inline struct quipu_moment quipu_now(void) {
    struct quipu_moment moment = {0, 0, 0, 0};
    if (quipu_runtime_now)
        quipu_runtime_now(&moment);
    return moment;
}

/* Calls HANDLER with the exact moment and ARGUMENT, in the calling thread, at the first test of the
 * countdown after TICKS more ticks: at a backward branch or a call.  HANDLER may do what a signal
 * handler may, and set the next one.  Up to 16 wait at a time.  Returns 0; -EAGAIN where 16 wait
 * already; -ENOSYS in a program that was not built with --quipu=moment; -ENOTSUP in one whose
 * calls of this were all compiled with an older header; another negative number where the system
 * does not let the tests be put into the program's text, as mprotect says why.
 * An executable that has no call of this has no tests. */
static inline int quipu_after(uint64_t ticks, void (*handler)(const struct quipu_moment *, void *),
                              void *argument) {
    /* a byte that stays as long as this does tells the runtime that tests are needed */
#ifdef __x86_64__
    __asm__ volatile("\n\t.reloc ., R_X86_64_NONE, .Lquipu_waits%="
                     "\n\t.pushsection .quipu.waits, \"a\", @progbits"
                     "\n.Lquipu_waits%=:\n\t.byte 0\n\t.popsection" ::);
#endif
    return quipu_runtime_after ? quipu_runtime_after(ticks, handler, argument) : -38;
}

/* ---- Watched memory: --quipu=watch ---- */

/* A write that touched a region.  All of this is gone when the handler returns. */
struct quipu_write {
    const void *region; /* first byte of the region ... */
    uint64_t region_size;
    const void *address; /* ... and of the write, which may begin in front of it */
    uint64_t size;
    const void *old_bytes; /* `told` bytes of the region, from `offset` on, as they were ... */
    const void *new_bytes; /* ... and as they are */
    uint64_t offset;
    uint64_t told;
    const void *pc; /* right behind the instruction that wrote, or the call */
    uint64_t exact; /* 1: the old bytes are those that this write has replaced, the new ones what it
                       has left; 0: another thread, or a handler, may have written meanwhile */
    uint64_t undecided; /* 1: found to have changed when a call came back, but another one that was
                           under way may have changed it */
};

/* Not for callers. */
extern int64_t quipu_runtime_watch(const void *address, uint64_t size,
                                   void (*handler)(const struct quipu_write *, void *),
                                   void *argument) __attribute__((weak));
extern int quipu_runtime_unwatch(int64_t id) __attribute__((weak));

/* Has HANDLER called with ARGUMENT for each write that touches one of the SIZE bytes at ADDRESS, in
 * the thread that wrote, right behind the write.  Regions may lie at any byte, have any size and
 * overlap; there may be millions.  HANDLER may do what a signal handler may, and make and delete
 * regions; what it writes itself is told to no handler.  Where a write is longer than 256 bytes,
 * the told bytes begin with the first that changed.  Returns the region's number, above 0; -EINVAL
 * where SIZE is 0 or the region does not end in the program's addresses; -ENOMEM; -ENOSYS in a
 * program that was not built with --quipu=watch. */
static inline int64_t quipu_watch_create(const void *address, uint64_t size,
                                         void (*handler)(const struct quipu_write *, void *),
                                         void *argument) {
    return quipu_runtime_watch ? quipu_runtime_watch(address, size, handler, argument) : -38;
}

/* Deletes a region.  What the code of a library has changed in it is reported first.  A thread that
 * has just written may still call its handler.  Returns 0; -ENOENT where there is none of that
 * number, or no longer. */
static inline int quipu_watch_delete(int64_t id) {
    return quipu_runtime_unwatch ? quipu_runtime_unwatch(id) : -2;
}

#ifdef __cplusplus
}
#endif

#endif
