/* order_schedule.c: one order of threads that ran on one processor; see order_threads.h.
 *
 * Mazieres and Smith 1994, section 3. Each switch ends a turn of its thread, so their list is the
 * list of turns. A thread goes on up to the place of its switch. Where that is not known exactly,
 * it goes on as far as it may: up to its first ticket that was taken later, or to its first chunk
 * that was begun later. Then the switch may have been earlier, by so many steps at most as followed
 * the last point that was in front of it.
 *
 * Tickets come first: a thread that comes to a ticket waits until all lower ones are passed. If a
 * switch was placed too early, its thread must go on meanwhile. */
#include "trace/order_threads.h"

#include "x86/decode.h"

enum arrival {
    NOT_THERE,
    THERE,
    BEHIND, /* the switch was there or earlier */
};

static const struct scheduled_switch *next_switch(const struct trace_order *order) {
    return &order->schedule->switches.data[order->number];
}

/* Returns the index of the thread of the next switch; or `count` if it is not one of the order. */
static size_t thread_of_switch(const struct trace_order *order) {
    const struct traced_thread *thread = next_switch(order)->thread;
    for (size_t i = 0; i < order->tickets.count; i++)
        if (order->threads[i].thread == thread)
            return i;
    return order->tickets.count;
}

/* Whether the thread's last step has called code that is not traced, or the kernel. */
static bool is_in_call(const struct ordered_thread *thread) {
    return thread->last.instruction &&
           (is_call_class(thread->last.instruction->decoded.class) ||
            thread->last.instruction->decoded.class == CLASS_SYSTEM ||
            thread->last.instruction->decoded.class == CLASS_JUMP ||
            thread->last.instruction->decoded.class == CLASS_JUMP_INDIRECT);
}

/* The thread is at a point that is in front of its next switch. */
static void be_sure(struct ordered_thread *thread) {
    thread->unsure = 0;
    thread->calls = is_in_call(thread);
}

void begin_order_turn(struct trace_order *order) {
    for (; order->number < order->schedule->switches.count; order->number++) {
        order->tickets.turn = thread_of_switch(order);
        if (order->tickets.turn == order->tickets.count)
            continue;
        order->offset = next_switch(order)->offset;
        be_sure(&order->threads[order->tickets.turn]);
        return;
    }
}

/* Whether the switch is in front of STEP, the next one of its thread, whose cursor was where the
 * switch found it. */
static enum arrival compare_point(const struct scheduled_switch *at,
                                  const struct trace_step *step) {
    switch (at->point) {
    case SWITCHED_AT_INSTRUCTION:
        return step->function->module == at->module && step->instruction->address == at->address
                   ? THERE
                   : NOT_THERE;
    case SWITCHED_BEHIND_RECORD:
        return THERE;
    case SWITCHED_OUTSIDE:
        return is_gap(&step->gap) ? THERE : NOT_THERE;
    case SWITCHED_IN_RECORD:
    case SWITCHED_SOMEWHERE:
        break;
    }
    return NOT_THERE;
}

/* Whether the switch is in front of the thread's held step. */
static enum arrival compare(const struct trace_order *order, const struct ordered_thread *thread) {
    const struct scheduled_switch *at = next_switch(order);
    struct record_position position = trace_position(thread->walk);
    if (at->cause == QUIPU_TRACE_ENDED)
        return NOT_THERE;
    if (position.chunk < at->chunk)
        return NOT_THERE;
    bool behind = position.chunk > at->chunk;
    if (!at->placed)
        return behind || position.offset >= at->offset ? BEHIND : NOT_THERE;
    if (!behind && position.offset <= order->offset)
        return position.offset == order->offset ? compare_point(at, thread->held) : NOT_THERE;
    bool there = at->point == SWITCHED_IN_RECORD || at->point == SWITCHED_BEHIND_RECORD ||
                 (at->point == SWITCHED_OUTSIDE && is_gap(&thread->held->gap));
    return there ? THERE : BEHIND;
}

/* Whether all that the thread has done so far is surely in front of the switch. */
static bool is_surely_behind(const struct trace_order *order, const struct ordered_thread *thread) {
    const struct scheduled_switch *at = next_switch(order);
    struct record_position position = trace_position(thread->walk);
    return position.chunk < at->chunk ||
           (position.chunk == at->chunk && at->placed && position.offset < order->offset);
}

/* The thread has left the processor. Returns whether NEXT tells so. */
static bool leave(struct trace_order *order, enum arrival arrival, struct ordered_step *next) {
    const struct ordered_thread *thread = &order->threads[order->tickets.turn];
    const struct scheduled_switch *at = next_switch(order);
    uint64_t unsure = arrival == THERE ? 0 : thread->unsure;
    order->exact &= !unsure;
    *next = (struct ordered_step){
        .thread = order->tickets.turn,
        .leaves = {.cause = at->cause, .time = at->time, .earlier = unsure, .place = thread->last}};
    order->number++;
    begin_order_turn(order);
    return order->tells;
}

/* The thread waits for a ticket. Returns how that is to the switch. */
static enum arrival compare_ticket(const struct trace_order *order,
                                   const struct ordered_thread *thread) {
    const struct scheduled_switch *at = next_switch(order);
    if (at->cause == QUIPU_TRACE_ENDED || thread->tickets->next < at->ticket)
        return NOT_THERE;
    bool outside = at->cause == QUIPU_TRACE_BLOCKED ||
                   (at->point == SWITCHED_OUTSIDE && (at->placed || thread->calls == 1));
    return outside && is_in_call(thread) ? THERE : BEHIND;
}

/* Lets the thread pass its ticket, which was taken in its turn. Returns false if others must go on
 * before. */
static bool pass_own_ticket(struct trace_order *order, struct ordered_thread *thread) {
    struct record_position position = trace_position(thread->walk);
    const struct scheduled_switch *at = next_switch(order);
    pass_tickets(&order->tickets);
    if (thread->tickets->state == WAITS)
        return false;
    thread->unsure = thread->calls = 0;
    /* The code of the ticket gives back to %r11 what it had before. */
    if (at->placed && position.chunk == at->chunk &&
        position.offset == order->offset + QUIPU_TRACE_ORDER_SIZE)
        order->offset = position.offset;
    return true;
}

bool give_by_schedule(struct trace_order *order, struct ordered_step *next) {
    while (order->number < order->schedule->switches.count) {
        struct ordered_thread *thread = &order->threads[order->tickets.turn];
        enum arrival arrival = NOT_THERE;
        if (thread->tickets->state == GOES_ON)
            find_next(thread);
        if (thread->tickets->state == ENDED)
            arrival = next_switch(order)->cause == QUIPU_TRACE_PREEMPTED ? BEHIND : THERE;
        else if (thread->tickets->state == WAITS)
            arrival = compare_ticket(order, thread);
        else
            arrival = compare(order, thread);
        if (arrival != NOT_THERE) {
            bool tells = leave(order, arrival, next);
            pass_tickets(&order->tickets);
            if (tells)
                return true;
            continue;
        }
        if (thread->tickets->state == WAITS) {
            if (pass_own_ticket(order, thread))
                continue;
            size_t turn = order->tickets.turn;
            bool given = give_by_tickets(order, next);
            order->tickets.turn = turn;
            return given;
        }
        give_step(order, order->tickets.turn, next);
        thread->unsure++;
        thread->calls += is_in_call(thread);
        if (is_surely_behind(order, thread))
            be_sure(thread);
        return true;
    }
    return false;
}
