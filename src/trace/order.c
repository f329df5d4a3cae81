/* order.c: one order of all threads' instructions; see order.h.
 *
 * Tickets are passed in rising order. A thread that comes to a ticket waits until all lower ones
 * are passed. They are numbered without gaps, so it need not be known where the others' next
 * tickets are. Threads that do not wait take turns of TURN instructions.
 *
 * The first thread of a process takes tickets at all its sites from when the second one begins. Up
 * to its next ticket it has seen nothing of the second one. So it goes there first.
 *
 * Not perfect: a thread that was killed has no ticket at its end. What it did last may come too
 * late. If records are missing, so are tickets. Then no thread may be able to go on; the one with
 * the lowest ticket does. */
#include "trace/order.h"

#include "trace/between.h"
#include "util/diag.h"

#include <stdlib.h>

enum {
    TURN = 32 /* instructions; caches are simulated in this order, too */
};

enum ordered_state {
    GOES_ON,
    WAITS, /* in front of the ticket `next` */
    ENDED,
};

struct ordered_thread {
    const struct traced_thread *thread;
    struct trace_walk *walk;
    uint8_t state; /* enum ordered_state */
    bool begun;    /* it has passed a ticket or given a step */
    uint64_t next;
    uint64_t since; /* 1 + the ticket that it has passed last, or 0 */
    uint64_t until; /* 1 + the first ticket that it has passed behind its last kept step, or 0 */
};

struct trace_order {
    struct ordered_thread *threads;
    size_t count;
    size_t turn;                   /* index of the thread that goes on */
    unsigned given;                /* steps of its turn */
    size_t kept;                   /* the thread of the last kept step; `count`: there is none */
    uint64_t next;                 /* ticket */
    struct trace_between *between; /* NULL: all is given */
    enum between_state where;
};

struct trace_order *trace_order_begin(struct trace *trace,
                                      const struct traced_thread *const *threads, size_t count) {
    struct trace_order *order = calloc(1, sizeof *order);
    struct ordered_thread *list = calloc(count + 1, sizeof *list);
    if (!order || !list)
        die("out of memory: no room for %zu threads", count);
    order->threads = list;
    order->count = order->kept = count;
    order->between = trace->between;
    for (size_t i = 0; i < count; i++) {
        list[i].thread = threads[i];
        list[i].walk = trace->between
                           ? trace_begin_part(trace, threads[i], (struct chunk_range){0, SIZE_MAX})
                           : trace_begin(trace, threads[i]);
    }
    return order;
}

struct trace_walk *trace_order_walk(struct trace_order *order, size_t thread) {
    return order->threads[thread].walk;
}

const char *trace_order_fault(const struct trace_order *order) {
    const char *fault = NULL;
    for (size_t i = 0; i < order->count && !fault; i++)
        fault = trace_fault(order->threads[i].walk);
    return fault;
}

void trace_order_end(struct trace_order *order) {
    for (size_t i = 0; i < order->count; i++)
        trace_end(order->threads[i].walk);
    free(order->threads);
    free(order);
}

/* Whether the first thread of THREAD's process must go on before THREAD, the second, begins. */
static bool waits_for_first(const struct trace_order *order, const struct ordered_thread *thread) {
    enum {
        SECOND = 2
    };
    if (thread->begun || thread->thread->number != SECOND)
        return false;
    for (size_t i = 0; i < order->count; i++) {
        const struct ordered_thread *other = &order->threads[i];
        if (other->thread->process == thread->thread->process && other->thread->number == 1)
            return other->state == GOES_ON;
    }
    return false;
}

static void pass_ticket(struct trace_order *order, struct ordered_thread *thread) {
    if (thread->next >= order->next)
        order->next = thread->next + 1;
    thread->begun = true;
    thread->state = GOES_ON;
    thread->since = thread->next + 1;
    if (!thread->until)
        thread->until = thread->since;
}

/* Lets threads go on whose tickets are next. */
static void pass_tickets(struct trace_order *order) {
    for (bool passed = true; passed;) {
        passed = false;
        for (size_t i = 0; i < order->count; i++) {
            struct ordered_thread *thread = &order->threads[i];
            if (thread->state != WAITS || thread->next > order->next ||
                waits_for_first(order, thread))
                continue;
            pass_ticket(order, thread);
            passed = true;
        }
    }
}

/* Nobody can go on: tickets are missing. The thread with the lowest one goes on. Returns false if
 * all threads have ended. */
static bool skip_missing(struct trace_order *order) {
    struct ordered_thread *lowest = NULL;
    for (size_t i = 0; i < order->count; i++) {
        struct ordered_thread *thread = &order->threads[i];
        if (thread->state == WAITS && (!lowest || thread->next < lowest->next))
            lowest = thread;
    }
    if (lowest)
        pass_ticket(order, lowest);
    return lowest;
}

/* Chooses whose turn it is. Returns false at the end. */
static bool choose_turn(struct trace_order *order) {
    if (order->given < TURN && order->turn < order->count &&
        order->threads[order->turn].state == GOES_ON)
        return true;
    do {
        for (size_t i = 1; i <= order->count; i++) {
            size_t index = (order->turn + i) % order->count;
            if (order->threads[index].state != GOES_ON)
                continue;
            order->turn = index;
            order->given = 0;
            return true;
        }
    } while (skip_missing(order));
    return false;
}

static bool is_unordered(const struct trace_order *order) {
    if (order->kept == order->count || order->kept == order->turn)
        return false;
    const struct ordered_thread *before = &order->threads[order->kept];
    return !before->until || before->until >= order->threads[order->turn].since;
}

bool trace_order_has_ended(const struct trace_order *order) {
    return order->where == BETWEEN_BEHIND;
}

void trace_order_keep(struct trace_order *order) {
    order->kept = order->turn;
    order->threads[order->turn].until = 0;
}

bool trace_order_step(struct trace_order *order, struct ordered_step *next) {
    while (choose_turn(order)) {
        struct ordered_thread *thread = &order->threads[order->turn];
        if (!trace_step_or_ticket(thread->walk, &next->step, &thread->next)) {
            thread->state = ENDED;
            pass_tickets(order);
        } else if (!next->step) {
            thread->state = WAITS;
            pass_tickets(order);
        } else {
            next->thread = order->turn;
            next->unordered = is_unordered(order);
            thread->begun = true;
            order->given++;
            if (!order->between || between_takes(order->between, next->step, &order->where))
                return true;
            if (order->where == BETWEEN_BEHIND)
                return false;
        }
    }
    return false;
}
