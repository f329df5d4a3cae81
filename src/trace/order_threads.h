/* order_threads.h: the state of an order of threads; private to the files order*.c.
 *
 * order.c           by tickets
 * order_schedule.c  ... and by the schedule of the trace, if it has one */
#ifndef QUIPU_TRACE_ORDER_THREADS_H
#define QUIPU_TRACE_ORDER_THREADS_H

#include "trace/between.h"
#include "trace/order.h"
#include "trace/schedule.h"
#include "trace/ticket_order.h"

struct ordered_thread {
    const struct traced_thread *thread;
    struct trace_walk *walk;
    struct ticket_thread *tickets; /* `until`: since its last kept step */
    struct trace_step *held; /* its next step, which is not given yet; NULL: it is not known yet */
    struct switch_place last;
    /* behind the last point that is surely in front of its next switch: */
    uint64_t unsure; /* steps */
    uint64_t calls;  /* times that it may have been in code that is not traced */
};

struct trace_order {
    struct ticket_order tickets;
    struct ordered_thread *threads; /* as many as `tickets` has, in the same order; owned */
    size_t kept; /* the thread of the last kept step; the number of threads: there is none */
    /* of the schedule, which is NULL if there is none, or if it has no switches */
    const struct trace_schedule *schedule;
    size_t number;                 /* of the next switch */
    uint32_t offset;               /* ... where the thread's next record was to be then */
    bool tells;                    /* of switches */
    bool exact;                    /* the last switch is */
    struct trace_between *between; /* NULL: all is given */
    enum between_state where;
};

/* order.c: finds the next step of a thread that goes on, or that it waits or ends. */
void find_next(struct ordered_thread *thread);

/* order.c: gives the next step of thread number INDEX, which has one. */
void give_step(struct trace_order *order, size_t index, struct ordered_step *next);

/* order.c: gives the next step of any thread, by tickets alone. Returns false at the end. */
bool give_by_tickets(struct trace_order *order, struct ordered_step *next);

/* order_schedule.c: gives the next step, or switch, by the schedule. Returns false at its end. */
bool give_by_schedule(struct trace_order *order, struct ordered_step *next);

/* order_schedule.c: begins with the next switch. */
void begin_order_turn(struct trace_order *order);

#endif
