/* order_merge.c: all threads' references in one order, as their parts have kept them; see
 * order_part.h.
 *
 * Whose turn it is, src/trace/ticket_order.c tells, as for src/trace/order.c. So this order is that
 * of one run. */
#include "cache/order_part.h"

#include "cache/ordered_codes.h"
#include "trace/ticket_order.h"
#include "util/diag.h"

#include <stdlib.h>

struct merged_thread {
    const struct ordered_stream *stream;
    size_t index;
    size_t part; /* 1 + index of the one that is read; 0: none yet */
    struct cursor next;
    struct kept_before before;
    struct ticket_thread *tickets;
    uint64_t plain; /* instructions that come first */
    uint64_t count; /* then: references of the next one; 0: it is not read yet */
};

struct merged_order {
    struct ticket_order tickets;
    struct merged_thread *threads; /* as many as `tickets` has, in the same order; owned */
    use_ordered *use;
    void *context;
    bool corrupt;
};

/* Reads what is next of a thread that goes on. */
static void read_next(struct merged_order *order, struct merged_thread *thread) {
    while (!thread->plain && !thread->count && thread->tickets->state == GOES_ON) {
        if (!thread->part || !cursor_left(&thread->next)) {
            if (thread->part == thread->stream->parts.count) {
                thread->tickets->state = ENDED;
                return;
            }
            const struct ordered_bytes *bytes = &thread->stream->parts.data[thread->part++];
            thread->next = (struct cursor){bytes->bytes, bytes->bytes + bytes->size, false};
            thread->before = (struct kept_before){0};
            continue;
        }
        uint64_t code = cursor_number(&thread->next, 1), number = cursor_uleb128(&thread->next);
        order->corrupt |= thread->next.failed || code > ORDERED_TICKET;
        if (order->corrupt)
            thread->tickets->state = ENDED;
        else if (code == ORDERED_TICKET)
            thread->tickets->state = WAITS, thread->tickets->next = number;
        else if (code == ORDERED_STEP)
            thread->count = number;
        else
            thread->plain = number;
    }
}

/* Executes the thread's next instructions, at most those that are left of its turn. */
static void give_steps(struct merged_order *order, struct merged_thread *thread) {
    thread->tickets->begun = true;
    if (thread->plain) {
        uint64_t left = TICKET_TURN - order->tickets.given;
        uint64_t steps = thread->plain < left ? thread->plain : left;
        thread->plain -= steps;
        order->tickets.given += (unsigned)steps;
        return;
    }
    order->tickets.given++;
    for (; thread->count; thread->count--) {
        struct memory_reference reference;
        if (!kept_read(&thread->next, &thread->before, &reference)) {
            order->corrupt = true;
            thread->count = 0;
            return;
        }
        reference.thread = (uint32_t)thread->index;
        order->use(order->context, &reference, thread->stream->parts.data[thread->part - 1].file);
    }
}

bool merge_order(const struct ordered_stream *streams, size_t count, use_ordered *use,
                 void *context) {
    struct merged_order order = {.use = use, .context = context};
    order.threads = calloc(count + 1, sizeof *order.threads);
    if (!order.threads)
        die("out of memory: no room for %zu threads", count);
    ticket_order_begin(&order.tickets, count);
    for (size_t i = 0; i < count; i++) {
        struct ticket_thread *tickets = &order.tickets.threads[i];
        tickets->process = streams[i].process;
        tickets->number = streams[i].number;
        order.threads[i] =
            (struct merged_thread){.stream = &streams[i], .index = i, .tickets = tickets};
    }
    while (!order.corrupt && choose_turn(&order.tickets)) {
        struct merged_thread *thread = &order.threads[order.tickets.turn];
        read_next(&order, thread);
        if (thread->tickets->state == GOES_ON)
            give_steps(&order, thread);
        else
            pass_tickets(&order.tickets);
    }
    ticket_order_end(&order.tickets);
    free(order.threads);
    return !order.corrupt;
}
