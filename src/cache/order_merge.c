/* order_merge.c: all threads' references in one order, as their parts have kept them; see
 * order_part.h.
 *
 * The order is that of src/trace/order.c: tickets rise, and threads that do not wait take turns of
 * so many instructions. */
#include "cache/order_part.h"

#include "cache/ordered_codes.h"
#include "trace/order.h"

#include <stdlib.h>

enum stream_state {
    GOES_ON,
    WAITS, /* in front of its next ticket */
    ENDED,
};

struct merged_thread {
    const struct ordered_stream *stream;
    size_t index;
    size_t part; /* 1 + index of the one that is read; 0: none yet */
    struct cursor next;
    struct kept_before before;
    uint8_t state; /* enum stream_state */
    bool begun;
    uint64_t ticket;
    uint64_t plain; /* instructions that come first */
    uint64_t count; /* then: references of the next one; 0: it is not read yet */
};

struct merged_order {
    struct merged_thread *threads;
    size_t count, turn;
    unsigned given;
    uint64_t next; /* ticket */
    use_ordered *use;
    void *context;
    bool corrupt;
};

/* Reads what is next of a thread that goes on. */
static void read_next(struct merged_order *order, struct merged_thread *thread) {
    while (!thread->plain && !thread->count && thread->state == GOES_ON) {
        if (!thread->part || !cursor_left(&thread->next)) {
            if (thread->part == thread->stream->parts.count) {
                thread->state = ENDED;
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
            thread->state = ENDED;
        else if (code == ORDERED_TICKET)
            thread->state = WAITS, thread->ticket = number;
        else if (code == ORDERED_STEP)
            thread->count = number;
        else
            thread->plain = number;
    }
}

/* Executes the thread's next instructions, at most those that are left of its turn. */
static void give_steps(struct merged_order *order, struct merged_thread *thread) {
    thread->begun = true;
    if (thread->plain) {
        uint64_t left = TRACE_ORDER_TURN - order->given;
        uint64_t steps = thread->plain < left ? thread->plain : left;
        thread->plain -= steps;
        order->given += (unsigned)steps;
        return;
    }
    order->given++;
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

static bool waits_for_first(const struct merged_order *order, const struct merged_thread *thread) {
    enum {
        SECOND = 2
    };
    if (thread->begun || thread->stream->number != SECOND)
        return false;
    for (size_t i = 0; i < order->count; i++)
        if (order->threads[i].stream->process == thread->stream->process &&
            order->threads[i].stream->number == 1)
            return order->threads[i].state == GOES_ON;
    return false;
}

static void pass_ticket(struct merged_order *order, struct merged_thread *thread) {
    if (thread->ticket >= order->next)
        order->next = thread->ticket + 1;
    thread->begun = true;
    thread->state = GOES_ON;
}

static void pass_tickets(struct merged_order *order) {
    for (bool passed = true; passed;) {
        passed = false;
        for (size_t i = 0; i < order->count; i++) {
            struct merged_thread *thread = &order->threads[i];
            if (thread->state != WAITS || thread->ticket > order->next ||
                waits_for_first(order, thread))
                continue;
            pass_ticket(order, thread);
            passed = true;
        }
    }
}

static bool skip_missing(struct merged_order *order) {
    struct merged_thread *lowest = NULL;
    for (size_t i = 0; i < order->count; i++) {
        struct merged_thread *thread = &order->threads[i];
        if (thread->state == WAITS && (!lowest || thread->ticket < lowest->ticket))
            lowest = thread;
    }
    if (lowest)
        pass_ticket(order, lowest);
    return lowest;
}

static bool choose_turn(struct merged_order *order) {
    if (order->given < TRACE_ORDER_TURN && order->turn < order->count &&
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

bool merge_order(const struct ordered_stream *streams, size_t count, use_ordered *use,
                 void *context) {
    struct merged_order order = {.count = count, .use = use, .context = context};
    order.threads = calloc(count + 1, sizeof *order.threads);
    if (!order.threads)
        return false;
    for (size_t i = 0; i < count; i++)
        order.threads[i] = (struct merged_thread){.stream = &streams[i], .index = i};
    while (!order.corrupt && choose_turn(&order)) {
        struct merged_thread *thread = &order.threads[order.turn];
        read_next(&order, thread);
        if (thread->state == GOES_ON)
            give_steps(&order, thread);
        else
            pass_tickets(&order);
    }
    free(order.threads);
    return !order.corrupt;
}
