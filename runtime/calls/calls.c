/* calls.c: calling context trees where the fast paths of activation.S are not enough: new calls,
 * activations that did not end by their functions' own ends, calls between modules.
 *
 * Ammons, Ball and Larus 1997, section 4.2. Recursion is folded as in the paper, but by site and
 * function, not by function alone.
 *
 * Steps that a signal handler may interrupt are ordered as calls.h describes. Not perfect: if a
 * handler leaves by longjmp within one of a few instructions here, an activation stays entered for
 * ever. */
#include "runtime/calls/calls.h"
#include "format/calls.h"
#include "format/data_file.h"
#include "format/event.h"
#include "runtime/core/syscall.h"

enum {
    LINKS_SIZE = 16 * QUIPU_PAGE,
};

/* Words at the inserted call's return address, as quipu_calls_slowly passes it. */
enum {
    AT_PLACE = 0,
    AT_SITE = 1,
};

void quipu_calls_entered(const uint64_t *stack);
void quipu_calls_left(const uint64_t *stack);
void quipu_calls_arrived(const uint64_t *stack);

/* The stack pointer is stored twice: see activation.S. */
void quipu_enter_link(struct context_thread *thread, struct context_link *link, uint64_t stack) {
    struct context_words *words = thread->module->words;
    for (int turn = 0; turn < 2; turn++) {
        *(volatile uint64_t *)&link->stack = stack;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        words->current = link;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    link->node->inclusive -= context_now(thread);
}

void quipu_leave_link(struct context_thread *thread) {
    struct context_words *words = thread->module->words;
    const struct context_link *ended = words->current;
    words->current = ended->from;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    end_activation(ended->node, context_now(thread));
}

/* ---- Calls from other modules ---- */

/* LINK is NULL if the call opens no node. */
static void cross_over(struct context_thread *thread, struct context_link *link,
                       struct context_module *from, uint64_t stack) {
    struct crossing *crossing = thread->crossing;
    struct context_link *before = current_link(thread);
    *crossing = (struct crossing){link ? link : before, before, before->stack, from};
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->crossing = crossing + 1;
    if (link)
        quipu_enter_link(thread, link, stack - ACROSS);
    else
        before->stack = stack - ACROSS;
}

/* Ends the current link, which was entered by a crossing. Crossings above it belong to handlers
 * that left during their crossing. */
static void cross_back(struct context_thread *thread) {
    struct context_link *link = current_link(thread);
    while (thread->crossing > thread->crossings) {
        struct crossing crossing = *--thread->crossing;
        if (crossing.link != link)
            continue;
        if (crossing.before == link)
            link->stack = crossing.stack;
        else
            quipu_leave_link(thread);
        quipu_switch_module(thread, crossing.from);
        return;
    }
    quipu_leave_link(thread);
}

/* Ends all links whose stack pointer is below STACK. */
static void end_below(struct context_thread *thread, uint64_t stack) {
    while (current_link(thread)->stack < stack) {
        if (current_link(thread)->stack & ACROSS)
            cross_back(thread);
        else
            quipu_leave_link(thread);
    }
}

/* ---- Links ---- */

/* A handler may make the table grow meanwhile: an old mask is valid for a larger table, too. */
static struct context_link **bucket_of(struct context_thread *thread,
                                       const struct context_link *from, uint64_t site,
                                       uint64_t place) {
    uint32_t hash = (uint32_t)(uint64_t)from + 8 * ((uint32_t)site + (uint32_t)place);
    uint32_t mask = __atomic_load_n(&thread->mask, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return &thread->table[(hash & mask) / 8];
}

/* The first link of each mapping of links leads to the next mapping. */
static struct context_link *links_of(struct context_link *mapping) {
    return mapping + 1;
}

static struct context_link *end_of_links(struct context_link *mapping) {
    return mapping + LINKS_SIZE / sizeof *mapping;
}

void quipu_reuse_links(struct context_thread *thread) {
    quipu_clear_table(thread);
    if (!thread->first_links)
        return;
    thread->links = links_of(thread->first_links);
    thread->links_end = end_of_links(thread->first_links);
}

void quipu_clear_table(struct context_thread *thread) {
    if (!thread->table) {
        thread->table = thread->first_table;
        thread->mask = sizeof thread->first_table - 8;
    }
    SYSTEM_CALL(madvise, thread->table, thread->mask + 8, MADV_DONTNEED, 0, 0, 0);
    thread->link_count = 0;
    thread->openings = quipu_state.file->openings;
    for (uint32_t i = 0; i < CONTEXT_RECENTS; i++)
        thread->recent[i] = &thread->root;
}

/* Without memory for a larger table, lookups only take longer. The caller has blocked signals. */
static void enlarge_table(struct context_thread *thread) {
    struct context_link **old = thread->table;
    uint32_t count = (thread->mask + 8) / 8;
    struct context_link **table = map_memory(NULL, 16 * (uint64_t)count, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(table))
        return;
    thread->table = table;
    thread->mask = 16 * count - 8;
    for (uint32_t i = 0; i < count; i++)
        for (struct context_link *link = old[i], *next; link; link = next) {
            struct context_link **bucket = bucket_of(thread, link->from, link->site, link->place);
            next = link->next;
            link->next = *bucket;
            *bucket = link;
        }
}

static bool is_full(const struct context_thread *thread) {
    return thread->link_count > (thread->mask + 8) / 8 / 4;
}

static void grow_table(struct context_thread *thread) {
    uint64_t mask = block_signals();
    if (is_full(thread))
        enlarge_table(thread);
    restore_signals(mask);
}

/* Returns the address of the pointer to the mapping that follows the one in use. */
static struct context_link **next_links(struct context_thread *thread) {
    return thread->links_end ? &(thread->links_end - LINKS_SIZE / sizeof *thread->links)->next
                             : &thread->first_links;
}

/* Makes room for more links. Returns false if there is no memory. */
static bool map_links(struct context_thread *thread) {
    uint64_t mask = block_signals();
    if (thread->links == thread->links_end) {
        struct context_link **next = next_links(thread), *links = *next;
        if (!links)
            links = map_memory(NULL, LINKS_SIZE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (!is_error(links)) {
            *next = links;
            thread->links = links_of(links);
            thread->links_end = end_of_links(links);
        }
    }
    restore_signals(mask);
    return thread->links != thread->links_end;
}

/* A handler may take some meanwhile. */
static struct context_link *take_link(struct context_thread *thread) {
    for (;;) {
        struct context_link *link = __atomic_load_n(&thread->links, __ATOMIC_RELAXED);
        if (link == thread->links_end) {
            if (!map_links(thread))
                return NULL;
        } else if (__atomic_compare_exchange_n(&thread->links, &link, link + 1, false,
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return link;
        }
    }
}

static bool is_in_bucket(const struct context_link *first, const struct context_link *link) {
    while (first && first != link)
        first = first->next;
    return first != NULL;
}

void quipu_add_link(struct context_thread *thread, struct context_link *link) {
    struct context_link **table;
    __atomic_fetch_add(&thread->link_count, 1, __ATOMIC_RELAXED);
    if (is_full(thread))
        grow_table(thread);
    do { /* a handler may grow the table, before or after the link is in the old one */
        table = __atomic_load_n(&thread->table, __ATOMIC_RELAXED);
        struct context_link **bucket = bucket_of(thread, link->from, link->site, link->place);
        struct context_link *first = __atomic_load_n(bucket, __ATOMIC_RELAXED);
        if (is_in_bucket(first, link))
            return;
        do
            link->next = first;
        while (!__atomic_compare_exchange_n(bucket, &first, link, false, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED));
    } while (__atomic_load_n(&thread->table, __ATOMIC_RELAXED) != table);
}

/* Sets *ADDRESS, a link's site or place, if it is in the code from START to END: if it IS_OPEN,
 * to the address, otherwise to one that no look-up finds. */
static void revise(uint64_t *address, uint64_t start, uint64_t end, bool is_open) {
    uint64_t plain = *address & ~CLOSED;
    if (plain - start < end - start)
        *address = is_open ? plain : plain | CLOSED;
}

void quipu_revise_links(struct context_thread *thread, uint64_t start, uint64_t end,
                        uint32_t mark) {
    for (uint32_t i = 0; i < (thread->mask + 8) / 8; i++)
        for (struct context_link *link = thread->table[i]; link; link = link->next) {
            const struct quipu_context *node = link->node;
            revise(&link->site, start, end, mark && node->site_module == mark);
            revise(&link->place, start, end, mark && node->callee_module == mark);
        }
}

static uint64_t function_at(uint64_t place) {
    const struct quipu_range *range = quipu_find_range(place);
    return range ? range_start(range) : place;
}

/* Returns a link from the current one, or NULL. If there is no room for a node, what the call
 * executes is counted in its caller's node, and the call in none. */
static struct context_link *make_link(struct context_thread *thread, uint64_t site,
                                      uint32_t site_module, uint64_t place) {
    struct context_link *from = current_link(thread);
    const struct context_call call = {.site = site,
                                      .callee = function_at(place),
                                      .site_module = site_module,
                                      .callee_module = own_mark()};
    bool opens;
    struct quipu_context *node = quipu_find_child(thread, from, &call, &opens);
    struct context_link *link = take_link(thread);
    if (link) {
        *link = (struct context_link){.from = from,
                                      .site = site,
                                      .place = place,
                                      .opens = opens && node ? from : NULL,
                                      .node = node ? node : &thread->nowhere};
        quipu_add_link(thread, link);
    }
    return link;
}

static struct context_link *find_link(struct context_thread *thread, uint64_t site,
                                      uint32_t site_module, uint64_t place) {
    struct context_link *from = current_link(thread);
    struct context_link *link = *bucket_of(thread, from, site, place);
    while (link && (link->from != from || link->site != site || link->place != place))
        link = link->next;
    return link ? link : make_link(thread, site, site_module, place);
}

/* ---- Reports of inserted code ---- */

/* Returns the calling thread's state. NULL: it has none, or it is changing. */
static struct context_thread *known_thread(void) {
    struct context_thread *thread = quipu_own_context();
    return thread && thread->switching ? NULL : thread;
}

void quipu_calls_entered(const uint64_t *stack) {
    struct context_thread *thread = quipu_find_context();
    if (!thread || thread->switching)
        return;
    end_below(thread, (uint64_t)stack + 1);
    struct context_module *from = thread->module;
    bool across = from->words != quipu_calls_words;
    if (across && thread->crossing == thread->crossings + CROSSINGS) {
        thread->chunks[0]->flags |= QUIPU_CALL_TREE_MERGED;
        return;
    }
    if (across)
        quipu_switch_module(thread, quipu_calls_words->module);
    struct context_link *link = find_link(thread, stack[AT_SITE], from->mark, stack[AT_PLACE]);
    if (link)
        link->node->calls++;
    else
        thread->chunks[0]->flags |= QUIPU_CALL_TREE_MERGED;
    struct context_link *opening = link && link->opens ? link : NULL;
    if (across)
        cross_over(thread, opening, from, (uint64_t)stack);
    else if (opening)
        quipu_enter_link(thread, opening, (uint64_t)stack);
}

/* If another link is current, the links below have ended, and this function may have opened
 * none. */
void quipu_calls_left(const uint64_t *stack) {
    struct context_thread *thread = known_thread();
    if (thread)
        end_below(thread, (uint64_t)stack + 1);
}

void quipu_calls_arrived(const uint64_t *stack) {
    struct context_thread *thread = known_thread();
    if (thread)
        end_below(thread, (uint64_t)stack + RED_ZONE);
}
