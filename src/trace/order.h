/* order.h: the instructions of all threads of a trace, in one order.
 *
 * The order contradicts none that the threads' synchronization made: what a thread did in front of
 * a release is in front of what another one did behind the acquire that saw it (format/trace.h,
 * "order"). Within that, threads take turns: those of the trace's schedule, if it has one. */
#ifndef QUIPU_TRACE_ORDER_H
#define QUIPU_TRACE_ORDER_H

#include "trace/trace.h"

struct trace_order; /* order.c */

/* An instruction of the program. */
struct switch_place {
    const struct traced_function *function; /* NULL: there is none */
    const struct piece *piece;
    const struct traced_instruction *instruction;
};

/* A thread has left the processor. */
struct order_switch {
    enum quipu_trace_switch_cause cause;
    uint64_t time;             /* nanoseconds of QUIPU_TRACE_CLOCK */
    uint64_t earlier;          /* it may have been so many instructions earlier; 0: it is exact */
    struct switch_place place; /* the thread's last instruction */
};

struct ordered_step {
    struct trace_step *step; /* valid until the next call; NULL: the thread leaves the processor */
    struct order_switch leaves;
    size_t thread; /* index in the list that trace_order_begin got */
    /* Another thread executed the last step that was kept, and no synchronization is between them:
     * this one may have run at the same time, or earlier. */
    bool unordered;
};

/* Begins with COUNT threads of TRACE, of which all are given between its moments (between.h), and
 * which THREADS lists by process and number. The list must stay until trace_order_end. */
struct trace_order *trace_order_begin(struct trace *trace,
                                      const struct traced_thread *const *threads, size_t count);
/* From now on trace_order_step tells of the schedule's switches, too. */
void trace_order_tell_switches(struct trace_order *order);
/* Sets NEXT to the next step, or switch. Returns false at the end. */
bool trace_order_step(struct trace_order *order, struct ordered_step *next);
/* Whether the order ended with a moment, in front of the ends of threads. */
bool trace_order_has_ended(const struct trace_order *order);
/* Keeps the last step: the next ones are compared with it. */
void trace_order_keep(struct trace_order *order);
/* Returns the walk through the records of thread number THREAD. */
struct trace_walk *trace_order_walk(struct trace_order *order, size_t thread);
/* Returns why the records of one of the threads could not be followed to their end, or NULL. */
const char *trace_order_fault(const struct trace_order *order);
void trace_order_end(struct trace_order *order);

#endif
