/* context.c: calling context trees, where the fast paths of activation.S do not do: calls that are
 * new, activations that ended otherwise than by their functions' own ends, ways between modules.
 *
 * Ammons, Ball and Larus 1997, section 4.2; recursion is folded as theirs is, but by site and
 * function, not by function alone.
 *
 * What a signal handler may interrupt is ordered as context.h says.  Not perfect: a handler that
 * leaves by longjmp from within one of a few instructions here leaves an activation counted for
 * good. */
#include "context.h"
#include "syscall.h"

enum {
    LINKS_SIZE = 16 * QUIPU_PAGE,
    RED_ZONE = 128,
};

/* What call_slow of activation.S leaves at the activation's stack. */
enum {
    AT_PLACE = 2,
    AT_SITE = 3,
};

void quipu_context_entered(const uint64_t *stack);
void quipu_context_left(const uint64_t *stack);
void quipu_context_arrived(const uint64_t *stack);

struct activation quipu_pop_activation(struct context_thread *thread) {
    struct activation ended = *thread->top;
    thread->top--;
    if (--ended.node->depth == 0)
        ended.node->inclusive += context_now(thread);
    return ended;
}

static void end_top(struct context_thread *thread) {
    struct activation ended = quipu_pop_activation(thread);
    if (ended.stack & ACROSS)
        quipu_switch_module(thread, ended.from);
}

/* Ends activations whose stack lies below STACK. */
static void end_below(struct context_thread *thread, uint64_t stack) {
    while (thread->top->stack < stack)
        end_top(thread);
}

/* The activation is written twice: see activation.S. */
void quipu_enter_node(struct context_thread *thread, struct activation activation) {
    struct activation *next = thread->top + 1;
    if (activation.node->depth++ == 0)
        activation.node->inclusive -= context_now(thread);
    for (int turn = 0; turn < 2; turn++) {
        *(volatile struct activation *)next = activation;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->top = next;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
}

static struct context_link **bucket_of(struct context_thread *thread,
                                       const struct quipu_context *from, uint64_t site,
                                       uint64_t place) {
    uint32_t hash = ((uint32_t)(uint64_t)from >> 3) + (uint32_t)site + (uint32_t)place;
    return &thread->table[hash % CONTEXT_BUCKETS];
}

static struct context_link *take_link(struct context_thread *thread) {
    if (thread->links == thread->links_end) {
        struct context_link *links = map_memory(NULL, LINKS_SIZE, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (is_error(links))
            return NULL;
        thread->links = links;
        thread->links_end = links + LINKS_SIZE / sizeof *links;
    }
    return thread->links++;
}

static uint64_t function_at(uint64_t place) {
    const struct quipu_range *range = quipu_find_range(place);
    return range ? range_start(range) : place;
}

/* Where a call of FROM leads, known from now on where there is room for it. */
static struct context_link add_link(struct context_thread *thread, struct context_link **bucket,
                                    struct quipu_context *from, const uint64_t *stack) {
    struct context_link way = {.from = from, .site = stack[AT_SITE], .place = stack[AT_PLACE]};
    way.call = quipu_find_child(thread, from, way.site, function_at(way.place), &way.to);
    way.call = way.call ? way.call : from;
    uint64_t mask = block_signals();
    struct context_link *link = take_link(thread);
    if (link) {
        way.next = *bucket;
        *link = way;
        __atomic_store_n(bucket, link, __ATOMIC_RELEASE);
    }
    restore_signals(mask);
    return way;
}

static struct context_link find_way(struct context_thread *thread, const uint64_t *stack) {
    struct quipu_context *from = thread->top->node;
    struct context_link **bucket = bucket_of(thread, from, stack[AT_SITE], stack[AT_PLACE]);
    for (struct context_link *link = *bucket; link; link = link->next)
        if (link->from == from && link->site == stack[AT_SITE] && link->place == stack[AT_PLACE])
            return *link;
    return add_link(thread, bucket, from, stack);
}

/* The calling thread's state; NULL: it has none, or cannot be looked at now. */
static struct context_thread *known_thread(void) {
    struct context_thread *thread = quipu_context_known;
    return thread && thread->switching ? NULL : thread;
}

void quipu_context_entered(const uint64_t *stack) {
    struct context_thread *thread = quipu_context ? quipu_context : quipu_find_context();
    if (!thread || thread->switching)
        return;
    end_below(thread, (uint64_t)stack + 1);
    if (thread->top >= thread->limit) {
        thread->chunks[0]->flags |= QUIPU_CONTEXTS_MERGED;
        return;
    }
    struct activation next = {.stack = (uint64_t)stack, .from = thread->module};
    if (!quipu_context) {
        next.stack -= ACROSS;
        quipu_switch_module(thread, quipu_own_module(thread));
    }
    struct context_link way = find_way(thread, stack);
    way.call->calls++;
    next.node = way.to;
    quipu_enter_node(thread, next);
}

/* The top is another activation: those below are gone; this one may never have been put there. */
void quipu_context_left(const uint64_t *stack) {
    struct context_thread *thread = known_thread();
    if (thread)
        end_below(thread, (uint64_t)stack + 1);
}

void quipu_context_arrived(const uint64_t *stack) {
    struct context_thread *thread = known_thread();
    if (thread)
        end_below(thread, (uint64_t)stack + RED_ZONE);
}
