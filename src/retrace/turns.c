/* turns.c: the order of threads in a trace of a recorded run; see state.h.
 *
 * One thread at a time plays, as one at a time executed in the recorded run. So the end of each
 * turn is a switch, as of threads that share a processor (format/trace.h): readers have the order
 * of all instructions. Times are numbers: odd ones are those of turns, even ones those of their
 * ends.
 *
 * Not perfect: where a thread leaves its turn in other code, behind several calls since its last
 * record, the switch may be placed some calls too early; readers say so. */
#include "retrace/state.h"

#include "trace/writer.h"
#include "x86/registers.h"

#include <string.h>

enum {
    OTHER_CODE = 1,  /* an address that is in no module */
    SWITCHES = 4096, /* in a block */
    TIMES = 4096     /* the same */
};

/* Returns the thread of the turn, or NULL if it has not recorded. */
static const struct retraced_thread *thread_of_turn(const struct retrace *retrace) {
    const struct turn *turn = &retrace->turn;
    for (const struct retraced_thread *at = retrace->threads; at; at = at->next)
        if (at->process == turn->process && at->recorded == turn->recorded)
            return at;
    return NULL;
}

/* The tickets that were taken in this turn have its time. */
static void note_times(struct retrace *retrace) {
    if (retrace->control)
        vector_push(retrace->arena, &retrace->times,
                    ((struct ticket_time){retrace->control->tickets, retrace->time}));
}

/* HAS_ENDED: the thread, or its program. */
static void end_turn(struct retrace *retrace, bool has_ended) {
    const struct retraced_thread *thread = thread_of_turn(retrace);
    struct user_regs_struct registers;
    note_times(retrace);
    retrace->time++;
    if (thread) {
        struct quipu_trace_switch one = {.time = retrace->time,
                                         .pid = (uint32_t)thread->process->recorded,
                                         .tid = (uint32_t)thread->recorded,
                                         .cause = QUIPU_TRACE_ENDED};
        if (!has_ended && get_general_registers(retrace->turn.number, &registers)) {
            bool is_traced = is_traced_function(thread->process, registers.rip);
            one.address = is_traced ? registers.rip : OTHER_CODE;
            one.cursor = thread->known->cursor;
            one.cause = is_traced ? QUIPU_TRACE_PREEMPTED : QUIPU_TRACE_BLOCKED;
        }
        vector_push(retrace->arena, &retrace->switches, one);
    }
    retrace->time++;
}

void begin_trace_turn(struct retrace *retrace) {
    struct turn next = {retrace->process, player_thread(retrace->player),
                        player_process(retrace->player)};
    struct turn *turn = &retrace->turn;
    bool is_same = next.process == turn->process && next.recorded == turn->recorded;
    if (turn->process && !is_same)
        end_turn(retrace, next.recorded == turn->recorded);
    *turn = next;
}

/* ---- the schedule ---- */

static void add_switches(struct retrace *retrace) {
    static struct {
        struct quipu_trace_schedule head;
        struct quipu_trace_switch switches[SWITCHES];
    } block = {.head = {.source = QUIPU_TRACE_BY_RECORDING}};
    const struct quipu_trace_chunk chunk = {.kind = QUIPU_TRACE_SCHEDULE};
    for (size_t at = 0; at < retrace->switches.count; at += SWITCHES) {
        size_t left = retrace->switches.count - at, count = left < SWITCHES ? left : SWITCHES;
        memcpy(block.switches, retrace->switches.data + at, count * sizeof *block.switches);
        writer_add(sink_writer(retrace->sink), &chunk, (const uint8_t *)&block,
                   sizeof block.head + count * sizeof *block.switches);
    }
}

/* Writes the times of COUNT tickets, each of its turn. */
static void add_times(struct retrace *retrace, uint64_t count) {
    static uint64_t block[TIMES];
    struct quipu_trace_chunk chunk = {.kind = QUIPU_TRACE_TIMES};
    size_t turn = 0;
    while (chunk.begin < count) {
        size_t filled = 0;
        while (filled < TIMES && chunk.begin + filled < count) {
            while (retrace->times.data[turn].end <= chunk.begin + filled)
                turn++;
            block[filled++] = retrace->times.data[turn].time;
        }
        writer_add(sink_writer(retrace->sink), &chunk, block, filled * sizeof *block);
        chunk.begin += filled;
    }
}

/* Returns how many tickets were taken; or 0, and the run ends, if the program has changed the
 * count: each is a record, and there are not so many. */
static uint64_t count_tickets(struct retrace *retrace) {
    uint64_t last = 0, most = 0;
    bool rises = true;
    for (const struct retraced_thread *at = retrace->threads; at; at = at->next)
        most += (uint64_t)at->chunks * (QUIPU_TRACE_RECORDS_MAX / QUIPU_TRACE_ORDER_SIZE);
    for (size_t i = 0; i < retrace->times.count; i++) {
        rises &= retrace->times.data[i].end >= last;
        last = retrace->times.data[i].end;
    }
    if (rises && last <= most)
        return last;
    end_retrace(retrace, "the program has written to the memory of its trace");
    return 0;
}

void add_schedule(struct retrace *retrace) {
    if (!retrace->threads || !retrace->threads->next)
        return;
    end_turn(retrace, true);
    add_switches(retrace);
    add_times(retrace, count_tickets(retrace));
}
