/* points.h: the breakpoints and watchpoints of a debugger.
 *
 * Breakpoint instructions are in a process only while it goes on: so copies of it have none, nor
 * does the memory that is shown. */
#ifndef QUIPU_DEBUG_POINTS_H
#define QUIPU_DEBUG_POINTS_H

#include "debug/conditions.h"
#include "tracee/serial.h"
#include "util/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum point_kind { /* as the protocol numbers them */
    POINT_SOFTWARE,
    POINT_HARDWARE,
    POINT_WRITE,
    POINT_READ,
    POINT_ACCESS,
    POINT_KINDS
};

enum {
    POINTS_MAX = 4096,
    WATCHED_MAX = 4096 /* bytes of a watchpoint */
};

struct point {
    enum point_kind kind;
    uint64_t address;
    size_t size;
    uint8_t *value;     /* of a watchpoint: what was there last; owned */
    bool has_value;     /* it could be read */
    bool has_changed;   /* the last time that it was looked at */
    unsigned registers; /* of a watchpoint: the debug registers for it, bit n: the n-th */
    struct point_condition *conditions; /* of a breakpoint; owned */
};

struct points {
    struct point points[POINTS_MAX];
    size_t count;
    bool has_registers; /* debug registers work on this machine */

    /* The instructions that were replaced, while a process goes on. */
    struct {
        uint64_t address;
        uint8_t byte;
    } inserted[POINTS_MAX + 1];
    size_t inserted_count;
    bool watching; /* debug registers are set */
};

/* Adds a point. Returns NULL, or a message. */
const char *points_add(struct points *points, enum point_kind kind, uint64_t address, size_t size);

/* CONDITIONS, which becomes POINTS', are those of that breakpoint from now on; it was added. */
void points_set_conditions(struct points *points, enum point_kind kind, uint64_t address,
                           size_t size, struct point_condition *conditions);

/* Removes it. Returns whether it was there. */
bool points_remove(struct points *points, enum point_kind kind, uint64_t address, size_t size);

void points_clear(struct points *points);

/* Puts all of POINTS aside, which are not inserted. Returns them; points_put_back frees that. */
struct points *points_put_aside(struct points *points);

/* POINTS are those of ASIDE again. */
void points_put_back(struct points *points, struct points *aside);

/* Returns a breakpoint at ADDRESS, or NULL. */
const struct point *points_find(const struct points *points, uint64_t address);

/* Returns the breakpoint that stops THREAD in front of its instruction at ADDRESS, or NULL: one
 * whose conditions hold there. */
const struct point *points_hit(const struct points *points, uint64_t address, pid_t thread);

/* Whether there is a watchpoint. */
bool points_watch(const struct points *points);

/* Sets WATCH to the contents of the debug registers for the watchpoints. Returns false if they do
 * not suffice. */
bool points_cover(const struct points *points, struct watch *watch);

/* ---- accesses.c: watchpoints for reads ---- */

/* Whether reads of what the point watches are hits, too. */
bool is_accessed(const struct point *point);

/* Returns the first of them that the next instruction of PROCESS accesses, or NULL. */
const struct point *points_next_access(const struct points *points, pid_t process);

/* Returns the first of them that one of these REGISTERS is for, 0: any; or NULL. */
const struct point *points_written(const struct points *points, unsigned registers);

/* ---- points.c ---- */

/* Whether the debug registers do not suffice for the watchpoints, so each instruction has to be
 * looked at. */
bool points_need_steps(const struct points *points);

/* Inserts the breakpoints into PROCESS, and one at EXTRA, if that is not 0. Sets its debug
 * registers. */
void points_insert(struct points *points, pid_t process, uint64_t extra);

/* Inserts only a breakpoint at ADDRESS, if that is not 0. */
void points_insert_one(struct points *points, pid_t process, uint64_t address);

/* Removes them. */
void points_take_out(struct points *points, pid_t process);

/* The process that had them is no more. */
void points_forget(struct points *points);

/* Whether a breakpoint is inserted at ADDRESS. */
bool points_inserted(const struct points *points, uint64_t address);

/* Notes what is watched in PROCESS. */
void points_look(struct points *points, pid_t process);

/* Returns the first watchpoint, not one for reads alone, whose value has changed in PROCESS since
 * it was noted, or NULL; all are noted again. */
const struct point *points_changed(struct points *points, pid_t process);

#endif
