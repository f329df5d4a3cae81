/* order.c: one order of all threads' instructions; see order.h.
 *
 * Tickets tell whose turn it is (ticket_order.h), or the schedule of the trace, if it has one
 * (order_schedule.c). If that has no switches, but threads ran on one processor, a thread goes on
 * until it must wait.
 *
 * Not perfect: a thread that was killed has no ticket at its end. What it did last may come too
 * late. */
#include "trace/order_threads.h"

#include "trace/between.h"
#include "util/diag.h"

#include <stdlib.h>

struct trace_order *trace_order_begin(struct trace *trace,
                                      const struct traced_thread *const *threads, size_t count) {
    struct trace_order *order = calloc(1, sizeof *order);
    struct ordered_thread *list = calloc(count + 1, sizeof *list);
    if (!order || !list)
        die("out of memory: no room for %zu threads", count);
    ticket_order_begin(&order->tickets, count);
    order->threads = list;
    order->kept = count;
    order->between = trace->between;
    for (size_t i = 0; i < count; i++) {
        list[i].thread = threads[i];
        list[i].tickets = &order->tickets.threads[i];
        list[i].tickets->process = threads[i]->process->number;
        list[i].tickets->number = threads[i]->number;
        list[i].walk = trace->between
                           ? trace_begin_part(trace, threads[i], (struct chunk_range){0, SIZE_MAX})
                           : trace_begin(trace, threads[i]);
    }
    order->exact = true;
    if (trace->schedule) {
        schedule_prepare(trace);
        order->schedule = trace->schedule;
        order->tickets.one_processor = true;
        begin_order_turn(order);
    }
    return order;
}

struct trace_walk *trace_order_walk(struct trace_order *order, size_t thread) {
    return order->threads[thread].walk;
}

const char *trace_order_fault(const struct trace_order *order) {
    const char *fault = NULL;
    for (size_t i = 0; i < order->tickets.count && !fault; i++)
        fault = trace_fault(order->threads[i].walk);
    return fault;
}

void trace_order_end(struct trace_order *order) {
    for (size_t i = 0; i < order->tickets.count; i++)
        trace_end(order->threads[i].walk);
    ticket_order_end(&order->tickets);
    free(order->threads);
    free(order);
}

static bool is_unordered(const struct trace_order *order) {
    bool known = order->schedule && order->schedule->switches.count && order->exact;
    const struct ticket_order *tickets = &order->tickets;
    if (known || order->kept == tickets->count || order->kept == tickets->turn)
        return false;
    const struct ticket_thread *before = &tickets->threads[order->kept];
    return !before->until || before->until >= tickets->threads[tickets->turn].since;
}

bool trace_order_has_ended(const struct trace_order *order) {
    return order->where == BETWEEN_BEHIND;
}

void trace_order_keep(struct trace_order *order) {
    order->kept = order->tickets.turn;
    order->exact = true;
    order->threads[order->kept].tickets->until = 0;
}

void find_next(struct ordered_thread *thread) {
    if (thread->held)
        return;
    if (!trace_step_or_ticket(thread->walk, &thread->held, &thread->tickets->next)) {
        thread->held = NULL;
        thread->tickets->state = ENDED;
    } else if (!thread->held) {
        thread->tickets->state = WAITS;
    }
}

void give_step(struct trace_order *order, size_t index, struct ordered_step *next) {
    struct ordered_thread *thread = &order->threads[index];
    order->tickets.turn = index;
    *next = (struct ordered_step){.step = thread->held, .thread = index};
    next->unordered = is_unordered(order);
    thread->last =
        (struct switch_place){next->step->function, next->step->piece, next->step->instruction};
    thread->held = NULL;
    thread->tickets->begun = true;
    order->tickets.given++;
}

bool give_by_tickets(struct trace_order *order, struct ordered_step *next) {
    while (choose_turn(&order->tickets)) {
        struct ordered_thread *thread = &order->threads[order->tickets.turn];
        find_next(thread);
        if (thread->tickets->state == GOES_ON) {
            give_step(order, order->tickets.turn, next);
            return true;
        }
        pass_tickets(&order->tickets);
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
