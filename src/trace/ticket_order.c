/* ticket_order.c: whose turn it is among threads that take tickets; see ticket_order.h. */
#include "trace/ticket_order.h"

#include "util/diag.h"

#include <limits.h>
#include <stdlib.h>

void ticket_order_begin(struct ticket_order *order, size_t count) {
    *order = (struct ticket_order){.count = count};
    order->threads = calloc(count + 1, sizeof *order->threads);
    if (!order->threads)
        die("out of memory: no room for %zu threads", count);
}

void ticket_order_end(struct ticket_order *order) {
    free(order->threads);
}

/* Whether the first thread of THREAD's process must go on before THREAD, the second, begins. */
static bool waits_for_first(const struct ticket_order *order, const struct ticket_thread *thread) {
    enum {
        SECOND = 2
    };
    if (thread->begun || thread->number != SECOND || order->one_processor)
        return false;
    for (size_t i = 0; i < order->count; i++) {
        const struct ticket_thread *other = &order->threads[i];
        if (other->process == thread->process && other->number == 1)
            return other->state == GOES_ON;
    }
    return false;
}

static void pass_ticket(struct ticket_order *order, struct ticket_thread *thread) {
    if (thread->next >= order->next)
        order->next = thread->next + 1;
    thread->begun = true;
    thread->state = GOES_ON;
    thread->since = thread->next + 1;
    if (!thread->until)
        thread->until = thread->since;
}

void pass_tickets(struct ticket_order *order) {
    for (bool passed = true; passed;) {
        passed = false;
        for (size_t i = 0; i < order->count; i++) {
            struct ticket_thread *thread = &order->threads[i];
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
static bool skip_missing(struct ticket_order *order) {
    struct ticket_thread *lowest = NULL;
    for (size_t i = 0; i < order->count; i++) {
        struct ticket_thread *thread = &order->threads[i];
        if (thread->state == WAITS && (!lowest || thread->next < lowest->next))
            lowest = thread;
    }
    if (lowest)
        pass_ticket(order, lowest);
    return lowest;
}

bool choose_turn(struct ticket_order *order) {
    unsigned most = order->one_processor ? UINT_MAX : TICKET_TURN;
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
