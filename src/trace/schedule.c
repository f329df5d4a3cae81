/* schedule.c: reads a schedule, and places its switches in the threads' records; see schedule.h.
 *
 * Mazieres and Smith 1994, section 3: their kernel logs the process, its position in the buffer and
 * its program counter. Here the position follows from %r11, which is the thread's cursor if it
 * leads into the buffer that the thread was filling at that time. Otherwise the switch is behind
 * the last ticket and the last chunk that were begun in front of it, and in front of the next ones.
 */
#include "trace/schedule.h"

#include "symbols/binary.h"
#include "trace/point.h"

#include <stdlib.h>
#include <string.h>

const char *schedule_source_name(enum quipu_trace_source source) {
    static const char *const names[] = {"", "tickets", "times", "registers", "recording"};
    return names[source];
}

const char *switch_cause_name(enum quipu_trace_switch_cause cause) {
    static const char *const names[] = {"", "blocked", "preempted", "ended"};
    return names[cause];
}

/* ---- reading ---- */

static bool add_times(struct trace *trace, uint64_t first, const uint8_t *contents, size_t size) {
    struct trace_schedule *schedule = trace->schedule;
    if (first != schedule->times.count || size % sizeof(uint64_t))
        return false;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t time;
        memcpy(&time, contents + at, sizeof time);
        vector_push(&trace->arena, &schedule->times, time);
    }
    return true;
}

static bool add_switches(struct trace *trace, const uint8_t *contents, size_t size) {
    struct trace_schedule *schedule = trace->schedule;
    struct quipu_trace_schedule head;
    struct quipu_trace_switch one;
    if (size < sizeof head || (size - sizeof head) % sizeof one)
        return false;
    memcpy(&head, contents, sizeof head);
    if (head.source < QUIPU_TRACE_BY_TICKETS || head.source > QUIPU_TRACE_BY_RECORDING)
        return false;
    schedule->source = head.source;
    schedule->processor = head.processor;
    schedule->lost += head.lost;
    for (size_t at = sizeof head; at < size; at += sizeof one) {
        memcpy(&one, contents + at, sizeof one);
        if (one.cause < QUIPU_TRACE_BLOCKED || one.cause > QUIPU_TRACE_ENDED)
            return false;
        vector_push(&trace->arena, &schedule->taken, one);
    }
    return true;
}

bool schedule_add(struct trace *trace, const struct quipu_trace_chunk *chunk,
                  const uint8_t *contents, size_t size) {
    if (!trace->schedule && chunk->kind != QUIPU_TRACE_SCHEDULE)
        return false;
    if (!trace->schedule)
        trace->schedule = ARENA_NEW(&trace->arena, struct trace_schedule);
    return chunk->kind == QUIPU_TRACE_TIMES ? add_times(trace, chunk->begin, contents, size)
                                            : add_switches(trace, contents, size);
}

/* ---- placing ---- */

/* Makes times rise with tickets. A thread may have been preempted between a ticket and its time; it
 * has executed nothing of the program there. An unknown time is that of the next ticket. */
static void order_times(struct trace_schedule *schedule) {
    uint64_t lowest = UINT64_MAX;
    for (size_t i = schedule->times.count; i-- > 0;) {
        uint64_t *time = &schedule->times.data[i];
        if (*time && *time < lowest)
            lowest = *time;
        *time = lowest;
    }
}

/* Returns the lowest ticket that was taken behind TIME. */
static uint64_t ticket_behind(const struct trace_schedule *schedule, uint64_t time) {
    size_t first = 0, last = schedule->times.count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if (schedule->times.data[middle] <= time)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* Returns the thread that had the number TID at TIME, or NULL. */
static const struct traced_thread *thread_at(const struct trace *trace, uint32_t tid,
                                             uint64_t time) {
    const struct traced_thread *found = NULL;
    for (size_t i = 0; i < trace->threads.count; i++) {
        const struct traced_thread *thread = trace->threads.data[i];
        if (thread->tid == tid && thread->chunks.count && thread->chunks.data[0].time <= time &&
            (!found || found->chunks.data[0].time < thread->chunks.data[0].time))
            found = thread;
    }
    return found;
}

/* Returns the chunk that the thread was filling at TIME. Its first one was begun before. */
static const struct traced_chunk *chunk_at(const struct traced_thread *thread, uint64_t time) {
    size_t first = 0, last = thread->chunks.count;
    while (first + 1 < last) {
        size_t middle = (first + last) / 2;
        if (thread->chunks.data[middle].time <= time)
            first = middle;
        else
            last = middle;
    }
    return &thread->chunks.data[first];
}

/* Returns the function of MODULE whose code may have ADDRESS, as linked, or NULL. */
static struct traced_function *function_at(const struct traced_module *module, uint64_t address) {
    struct traced_function *found = NULL;
    uint64_t nearest = UINT64_MAX;
    for (size_t i = 0; i < module->functions.count; i++) {
        struct traced_function *function = &module->functions.data[i];
        for (uint32_t n = 0; n < function->fragment_count; n++)
            if (address - function->fragments[n] < nearest) {
                nearest = address - function->fragments[n];
                found = function;
            }
    }
    return found;
}

/* Whether the instruction at ADDRESS is all that is left until the record is counted as written:
 * then the thread's %r11 is behind it. */
static bool is_nearly_done(struct arena *arena, struct traced_function *function, uint64_t address,
                           uint32_t record) {
    size_t left;
    struct decoded decoded;
    const uint8_t *code = binary_code(function->module->binary, address, &left);
    if (!code || !decode_instruction(code, left, &decoded))
        return false;
    struct point next = find_point(arena, function, address + decoded.size);
    return next.known && next.record == record && next.done;
}

/* Finds out what of its program the thread was about to execute, in FUNCTION at the switch's
 * address. */
static void find_switch_point(struct arena *arena, struct traced_function *function,
                              struct scheduled_switch *one) {
    struct point point = find_point(arena, function, one->address);
    if (!point.known)
        return;
    if (point.record == NONE_OF) {
        struct piece *piece = &function->pieces[point.piece];
        decode_piece(arena, function, piece);
        if (point.index >= piece->count)
            return;
        one->point = SWITCHED_AT_INSTRUCTION;
        one->address = piece->instructions[point.index].address;
    } else {
        one->point = point.done || is_nearly_done(arena, function, one->address, point.record)
                         ? SWITCHED_BEHIND_RECORD
                         : SWITCHED_IN_RECORD;
    }
}

/* Places a switch whose registers are known. */
static void place_switch(struct trace *trace, const struct quipu_trace_switch *taken,
                         const struct traced_chunk *chunk, struct scheduled_switch *one) {
    const struct traced_process *process = one->thread->process;
    one->placed = taken->cursor - chunk->address < QUIPU_TRACE_RECORDS_MAX;
    one->offset = (uint32_t)(taken->cursor - chunk->address);
    one->point = SWITCHED_OUTSIDE;
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct loaded_module *loaded = &process->modules.data[i];
        size_t left;
        uint64_t address = taken->address - loaded->bias;
        if (!binary_code(loaded->module->binary, address, &left))
            continue;
        struct traced_function *function = function_at(loaded->module, address);
        one->point = SWITCHED_SOMEWHERE;
        one->module = loaded->module;
        one->address = address;
        if (function && one->placed)
            find_switch_point(&trace->arena, function, one);
        /* In the runtime %r11 may still lead into the chunk before, in the same buffer. */
        one->placed &= one->point != SWITCHED_SOMEWHERE;
        return;
    }
}

/* Places a switch in the runtime, which looks for room for the thread's next record. */
static void place_behind(struct scheduled_switch *one) {
    one->placed = true;
    one->offset = QUIPU_TRACE_RECORDS_MAX;
    one->point = SWITCHED_IN_RECORD;
}

/* Sets how far a thread can have come at most, where a switch is not placed: to its next switch
 * that is. */
static void limit_switches(struct trace *trace) {
    struct trace_schedule *schedule = trace->schedule;
    const struct scheduled_switch **next =
        ARENA_ARRAY(&trace->arena, const struct scheduled_switch *, trace->threads.count + 1);
    for (size_t i = schedule->switches.count; i-- > 0;) {
        struct scheduled_switch *one = &schedule->switches.data[i];
        size_t thread = 0;
        while (trace->threads.data[thread] != one->thread)
            thread++;
        if (one->placed)
            next[thread] = one;
        else
            one->offset = next[thread] && next[thread]->chunk == one->chunk ? next[thread]->offset
                                                                            : UINT32_MAX;
    }
}

static int compare_switches(const void *a, const void *b) {
    const struct quipu_trace_switch *first = a, *second = b;
    return (first->time > second->time) - (first->time < second->time);
}

void schedule_prepare(struct trace *trace) {
    struct trace_schedule *schedule = trace->schedule;
    if (schedule->ready)
        return;
    schedule->ready = true;
    order_times(schedule);
    if (schedule->taken.count)
        qsort(schedule->taken.data, schedule->taken.count, sizeof *schedule->taken.data,
              compare_switches);
    for (size_t i = 0; i < schedule->taken.count; i++) {
        const struct quipu_trace_switch *taken = &schedule->taken.data[i];
        struct scheduled_switch one = {
            .thread = thread_at(trace, taken->tid, taken->time),
            .time = taken->time,
            .cause = taken->cause,
            .ticket = ticket_behind(schedule, taken->time),
        };
        if (!one.thread) {
            schedule->others++;
            continue;
        }
        const struct traced_chunk *chunk = chunk_at(one.thread, one.time);
        one.chunk = chunk->number;
        if (chunk->end && chunk->end <= one.time)
            place_behind(&one);
        else if (taken->address)
            place_switch(trace, taken, chunk, &one);
        vector_push(&trace->arena, &schedule->switches, one);
    }
    limit_switches(trace);
}
