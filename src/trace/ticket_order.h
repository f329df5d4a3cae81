/* ticket_order.h: whose turn it is among threads that take tickets (format/trace.h, "order").
 *
 * Tickets are passed in rising order. A thread that comes to a ticket waits until all lower ones
 * are passed. They are numbered without gaps, so it need not be known where the others' next
 * tickets are. Threads that do not wait take turns of TICKET_TURN instructions; if all ran on one
 * processor, a thread goes on until it must wait.
 *
 * The first thread of a process takes tickets at all its sites from when the second one begins. Up
 * to its next ticket it has seen nothing of the second one. So it goes there first. On one
 * processor this is not needed, as the schedule tells when the second one began.
 *
 * Not perfect: if records are missing, so are tickets. Then no thread may be able to go on; the one
 * with the lowest ticket does. */
#ifndef QUIPU_TRACE_TICKET_ORDER_H
#define QUIPU_TRACE_TICKET_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TICKET_TURN = 32 /* instructions of a thread, if it does not wait */
};

enum ticket_state {
    GOES_ON,
    WAITS, /* in front of the ticket `next` */
    ENDED,
};

struct ticket_thread {
    uint32_t process, number; /* its process's, and its own in that, from 1 */
    uint8_t state;            /* enum ticket_state */
    bool begun;               /* it has passed a ticket or executed an instruction */
    uint64_t next;
    uint64_t since; /* 1 + the ticket that it has passed last, or 0 */
    uint64_t until; /* 1 + the first ticket that it has passed since its user set 0 here, or 0 */
};

struct ticket_order {
    struct ticket_thread *threads; /* owned */
    size_t count;
    size_t turn;    /* index of the thread that goes on */
    unsigned given; /* instructions of its turn; the user adds to it */
    uint64_t next;  /* ticket */
    bool one_processor;
};

/* Begins with COUNT threads, of which the caller sets `process` and `number`. Dies if there is no
 * memory. ticket_order_end frees what is owned. */
void ticket_order_begin(struct ticket_order *order, size_t count);
void ticket_order_end(struct ticket_order *order);

/* Lets the threads go on that wait and whose tickets are next. */
void pass_tickets(struct ticket_order *order);

/* Sets `turn` to a thread that goes on. Returns false if all threads have ended. */
bool choose_turn(struct ticket_order *order);

#endif
