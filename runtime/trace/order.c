/* order.c: tickets for the order of threads; see trace.h and full.S.
 *
 * A thread that is alone takes tickets only where it enters the kernel. From the moment at which
 * another thread of its process begins to record, or a second process does, it takes them at all
 * its sites. A thread finds out about other processes when it takes a ticket, and when it forks. */
#include "runtime/trace/trace.h"

#include "runtime/core/syscall.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>

void quipu_trace_end_module(void);

enum {
    KEYS_MOST = 32,      /* of data of threads, for which the C library allocates nothing */
    FIRST_PRIORITY = 101 /* of destructors: it is called last */
};

/* A C library, or one without its library of threads, may not have them. */
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
#pragma weak pthread_key_delete

static bool watches_ends; /* this module has made the key of the process's threads, `ends` */

/* As full.S knows them. */
static_assert(offsetof(struct quipu_trace_thread, tickets) == QUIPU_TRACE_TICKETS &&
                  QUIPU_TRACE_TICKETS == 8,
              "tickets");
static_assert(offsetof(struct quipu_trace_thread, ordered) == QUIPU_TRACE_ORDERED &&
                  QUIPU_TRACE_ORDERED == 28,
              "ordered");
static_assert(offsetof(struct quipu_trace_thread, unread) == QUIPU_TRACE_UNREAD &&
                  QUIPU_TRACE_UNREAD == 16,
              "unread");
static_assert(offsetof(struct quipu_trace_thread, turns) == QUIPU_TRACE_TURNS &&
                  QUIPU_TRACE_TURNS == 24,
              "turns");
static_assert(offsetof(struct quipu_trace_thread, times) == QUIPU_TRACE_TIMES_OF &&
                  QUIPU_TRACE_TIMES_OF == 32 && sizeof(struct quipu_trace_time) == 16 &&
                  QUIPU_TRACE_CLOCK == 4,
              "times");
static_assert((int)offsetof(struct quipu_trace_control, processes) -
                          (int)offsetof(struct quipu_trace_control, tickets) ==
                      QUIPU_TRACE_PROCESSES_FROM_TICKETS &&
                  QUIPU_TRACE_PROCESSES_FROM_TICKETS == -28,
              "processes");
static_assert(QUIPU_TRACE_FULL == 1 << 18 && QUIPU_TRACE_ORDER == 0xf1 &&
                  QUIPU_TRACE_ORDER_SIZE == 13,
              "a record");

void quipu_trace_order_all(struct trace *trace) {
    trace->ordered = true;
    for (struct thread *thread = trace->threads; thread; thread = thread->next)
        __atomic_store_n(&thread->known.ordered, 1, __ATOMIC_SEQ_CST);
}

void quipu_trace_begin_order(struct trace *trace, struct thread *thread) {
    if (trace->phase != TRACE_ON)
        return;
    thread->known.tickets = &trace->control->tickets;
    thread->known.times = trace->times;
    thread->begins = true;
    if (trace->thread_count > 1 || trace->process > 1)
        quipu_trace_order_all(trace);
    thread->known.ordered = trace->ordered;
    thread->ends = 0;
    if (trace->has_ends)
        quipu_call_handler((uint64_t)pthread_setspecific, (const void *)(uint64_t)trace->ends,
                           (uint64_t)thread);
}

/* ---- records without a site ---- */

static void write_ticket(struct thread *thread, char *record) {
    uint64_t ticket = __atomic_fetch_add(thread->known.tickets, 1, __ATOMIC_SEQ_CST);
    if (thread->known.times)
        SYSTEM_CALL(clock_gettime, QUIPU_TRACE_CLOCK, thread->known.times + (uint32_t)ticket, 0, 0,
                    0, 0);
    record[0] = (char)QUIPU_TRACE_ORDER;
    for (int i = 0; i < 4; i++)
        record[1 + i] = 0;
    for (int i = 0; i < 8; i++)
        record[5 + i] = (char)(ticket >> 8 * i);
}

char *quipu_trace_write_begin(struct thread *thread, char *record) {
    if (!thread->begins)
        return record;
    thread->begins = false;
    write_ticket(thread, record);
    return record + QUIPU_TRACE_ORDER_SIZE;
}

/* Takes a ticket: the calling THREAD has done what others may wait for. */
static void release(struct thread *thread) {
    if (!thread->known.tickets)
        return;
    uint64_t mask = block_signals();
    write_ticket(thread, quipu_trace_add_record(thread, QUIPU_TRACE_ORDER_SIZE));
    restore_signals(mask);
}

/* The calling thread ends. The program's own destructors may follow, so this one asks to be called
 * again, as often as it may. */
static void end_thread(void *data) {
    struct thread *thread = data;
    release(thread);
    if (++thread->ends < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(((struct trace *)quipu_state.trace)->ends, thread);
}

/* The process ends, or unloads this module, which may have the destructor. */
__attribute__((destructor(FIRST_PRIORITY))) void quipu_trace_end_module(void) {
    struct quipu_trace_thread *known = *quipu_trace_own();
    if (known != &quipu_trace_unattached)
        release((struct thread *)known);
    if (!watches_ends)
        return;
    struct trace *trace = quipu_state.trace;
    trace->has_ends = false;
    pthread_key_delete(trace->ends);
}

void quipu_trace_watch_ends(struct trace *trace) {
    watches_ends = pthread_key_create && pthread_setspecific && pthread_key_delete &&
                   pthread_key_create(&trace->ends, end_thread) == 0;
    trace->has_ends = watches_ends && trace->ends < KEYS_MOST;
}
