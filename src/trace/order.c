/* order.c: one order of all threads' instructions; see order.h.
 *
 * Tickets are passed in rising order. A thread that comes to a ticket waits until all lower ones
 * are passed. They are numbered without gaps, so it need not be known where the others' next
 * tickets are. Threads that do not wait take turns of TRACE_ORDER_TURN instructions.
 *
 * The first thread of a process takes tickets at all its sites from when the second one begins. Up
 * to its next ticket it has seen nothing of the second one. So it goes there first.
 *
 * If the trace has a schedule, the threads take turns by that (order_schedule.c). If that has no
 * switches, but threads ran on one processor, a thread goes on until it must wait.
 *
 * Not perfect: a thread that was killed has no ticket at its end. What it did last may come too
 * late. If records are missing, so are tickets. Then no thread may be able to go on; the one with
 * the lowest ticket does. */
#include "trace/order_threads.h"

#include "trace/between.h"
#include "util/diag.h"

#include <limits.h>
#include <stdlib.h>

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
    order->exact = true;
    if (trace->schedule) {
        schedule_prepare(trace);
        order->schedule = trace->schedule;
        begin_order_turn(order);
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
    if (thread->begun || thread->thread->number != SECOND || order->schedule)
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

void pass_tickets(struct trace_order *order) {
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
    unsigned most = order->schedule ? UINT_MAX : TRACE_ORDER_TURN;
    if (order->given < most && order->turn < order->count &&
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
    bool known = order->schedule && order->schedule->switches.count && order->exact;
    if (known || order->kept == order->count || order->kept == order->turn)
        return false;
    const struct ordered_thread *before = &order->threads[order->kept];
    return !before->until || before->until >= order->threads[order->turn].since;
}

bool trace_order_has_ended(const struct trace_order *order) {
    return order->where == BETWEEN_BEHIND;
}

void trace_order_keep(struct trace_order *order) {
    order->kept = order->turn;
    order->exact = true;
    order->threads[order->turn].until = 0;
}

void find_next(struct ordered_thread *thread) {
    if (thread->held)
        return;
    if (!trace_step_or_ticket(thread->walk, &thread->held, &thread->next)) {
        thread->held = NULL;
        thread->state = ENDED;
    } else if (!thread->held) {
        thread->state = WAITS;
    }
}

void give_step(struct trace_order *order, size_t index, struct ordered_step *next) {
    struct ordered_thread *thread = &order->threads[index];
    order->turn = index;
    *next = (struct ordered_step){.step = thread->held, .thread = index};
    next->unordered = is_unordered(order);
    thread->last =
        (struct switch_place){next->step->function, next->step->piece, next->step->instruction};
    thread->held = NULL;
    thread->begun = true;
    order->given++;
}

bool give_by_tickets(struct trace_order *order, struct ordered_step *next) {
    while (choose_turn(order)) {
        struct ordered_thread *thread = &order->threads[order->turn];
        find_next(thread);
        if (thread->state == GOES_ON) {
            give_step(order, order->turn, next);
            return true;
        }
        pass_tickets(order);
    }
    return false;
}

void trace_order_tell_switches(struct trace_order *order) {
    order->tells = true;
}

bool trace_order_step(struct trace_order *order, struct ordered_step *next) {
    while ((order->schedule && give_by_schedule(order, next)) || give_by_tickets(order, next)) {
        if (!order->between ||
            (next->step ? between_takes(order->between, next->step, &order->where)
                        : order->where == BETWEEN_INSIDE || !order->between->from.name))
            return true;
        if (order->where == BETWEEN_BEHIND)
            return false;
    }
    return false;
}
