/* play_inside.c: recorded system calls are given inside of the program; see play.h and inside.h.
 *
 * The results of the next calls of the thread that plays, and what they have written, are put into
 * the log of the memory inside. The code there compares the call's registers, and the bytes that it
 * writes, with the event. What it cannot give is a stop, and there the player looks at the event.
 *
 * A thread that is continued goes on behind the last call that it is given. So that call is played
 * by a stop if another thread's event, a signal, or an end comes directly behind it.
 *
 * Only a play without a debugger does this: for a debugger each call is a place to stop at. */
#include "replay/play.h"

#include "util/buffer.h"
#include "x86/clone_call.h"
#include "x86/kernel.h"

#include <sched.h>
#include <string.h>
#include <sys/uio.h>

static struct inside *inside_of(const struct player *player) {
    return &player->thread->process->inside;
}

enum {
    GIVEN_LEAST = 16 /* calls that are given next if not all were taken, besides twice those */
};

/* ---- sites ---- */

/* Whether another thread with the same memory stands behind the instruction at ADDRESS. */
static bool others_stand_behind(const struct player *player, uint64_t address) {
    for (size_t i = 0; i < player->threads.count; i++) {
        const struct play_thread *thread = player->threads.data[i];
        bool has_memory = thread->process == player->thread->process ||
                          (thread->process && thread->process->inside.is_shared);
        if (thread != player->thread && has_memory &&
            next_instruction(thread->number) - address <= CALL_SIZE + CALL_MOVED_MOST)
            return true;
    }
    return false;
}

/* Replaces the instructions that the recorder has replaced by now. */
static void replace_sites(struct player *player) {
    struct play_process *process = player->thread->process;
    if (!process->sites.count || process->inside.is_shared || !player_settle(player))
        return;
    size_t left = 0;
    for (size_t i = 0; i < process->sites.count; i++) {
        const struct inside_visit visit = {
            .arena = player->arena,
            .address = process->sites.data[i].address,
            .plan = process->sites.data[i].plan,
            .mode = QUIPU_INSIDE_PLAY,
            .may_move = !others_stand_behind(player, process->sites.data[i].address),
        };
        if (!inside_replace(&process->inside, player->process, &visit) && !visit.may_move)
            process->sites.data[left++] = process->sites.data[i]; /* later */
    }
    process->sites.count = left;
}

bool look_at_call(const struct player *player, struct user_regs_struct *registers) {
    if (!get_general_registers(player->process, registers))
        return false;
    inside_look(inside_of(player), registers);
    return true;
}

void end_shared_inside(struct player *player, const struct system_call *call) {
    struct clone_call made;
    if (!is_clone_call(call->number))
        return;
    read_clone_call(player->process, call->number, call->arguments, &made);
    inside_of(player)->is_shared &= !(made.flags & CLONE_VFORK);
}

/* ---- the log ---- */

/* Appends the memory of the event. Returns false if it is not of the plain kind. */
static bool add_pieces(const struct player *player, struct buffer *log) {
    static const uint8_t zeros[8];
    for (size_t i = 0; i < player->memory.count; i++) {
        const struct memory_event *memory = &player->memory.data[i];
        const struct quipu_inside_piece piece = {
            .size = (uint32_t)memory->size,
            .argument = memory->argument,
            .address = memory->address,
        };
        if (memory->argument > QUIPU_MEMORY_ADDRESS || memory->size > QUIPU_INSIDE_BYTES_MOST)
            return false;
        buffer_add(log, &piece, sizeof piece);
        buffer_add(log, memory->bytes, memory->size);
        buffer_add(log, zeros, QUIPU_INSIDE_ROUNDED(memory->size) - memory->size);
    }
    return true;
}

/* Appends the next event, if it is a call that can be given inside. */
static bool add_event(struct player *player, struct buffer *log) {
    struct event copy = player->event;
    struct call_event call;
    const size_t begin = log->count;
    if (player->event.kind != QUIPU_EVENT_CALL || !read_call_event(&copy, &call) || call.stream ||
        !may_be_inside(call.number))
        return false;
    const struct system_call recorded = {.number = call.number, .result = call.result};
    if (is_made_again(player, &recorded))
        return false;
    struct quipu_inside_entry entry = {.number = (uint16_t)call.number,
                                       .pieces = (uint16_t)player->memory.count,
                                       .hash = call.hash,
                                       .result = call.result};
    buffer_add(log, &entry, sizeof entry);
    if (!add_pieces(player, log) || log->count > QUIPU_INSIDE_LOG_SIZE) {
        log->count = begin;
        return false;
    }
    entry.size = (uint32_t)(log->count - begin);
    memcpy(log->data + begin, &entry, sizeof entry);
    return true;
}

/* Whether the thread comes to the next event by itself, and stops there. */
static bool is_come_to(const struct player *player, uint32_t thread) {
    enum quipu_event_kind kind = player->event.kind;
    return player->event.thread == thread &&
           (kind == QUIPU_EVENT_CALL || kind == QUIPU_EVENT_ENTRY || kind == QUIPU_EVENT_COUNTER);
}

static bool write_log(const struct player *player, struct buffer *log) {
    const struct { uint32_t used, taken, count; } head = {(uint32_t)log->count, 0, 0};
    const uint64_t place = QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, used);
    struct iovec here[] = {{(void *)&head, sizeof head}, {log->data, log->count}};
    struct iovec there[] = {{(void *)place, sizeof head},
                            {(void *)(uintptr_t)QUIPU_INSIDE_LOG, log->count}};
    size_t all = sizeof head + log->count;
    return process_vm_writev(player->process, here, 2, there, 2, 0) == (ssize_t)all;
}

/* Tells the code inside what its thread's registers lead to, which it may not find out itself. */
static bool write_bases(const struct player *player) {
    const uint64_t place = QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, bases);
    struct user_regs_struct registers;
    if (!get_general_registers(player->process, &registers))
        return false;
    const uint64_t bases[] = {registers.fs_base, registers.gs_base};
    struct iovec here = {(void *)bases, sizeof bases};
    struct iovec there = {(void *)place, sizeof bases};
    return process_vm_writev(player->process, &here, 1, &there, 1, 0) == (ssize_t)sizeof bases;
}

/* The next event is the one at PLACE again; OFF events more are to be played. */
static void go_back(struct player *player, const struct recording_place *place, uint64_t off) {
    recording_seek(&player->recording, place);
    forget_event(player);
    player->place = *place;
    player->playing.calls -= off;
}

void give_inside(struct player *player) {
    uint32_t thread = player->event.thread;
    struct recording_place last = player->place;
    size_t begin = 0;
    player->given.count = 0;
    player->log.count = 0;
    if (!player->hooks->gives_inside || !peek_event(player))
        return;
    replace_sites(player);
    if (!inside_of(player)->is_mapped)
        return;
    while (is_come_to(player, thread) && player->given.count < player->given_most) {
        begin = player->log.count;
        last = player->place;
        if (!add_event(player, &player->log))
            break;
        vector_push(player->arena, &player->given, last);
        player->playing.calls++;
        pass_event(player);
        if (!peek_event(player))
            break;
    }
    if (player->given.count && (player->ended || !is_come_to(player, thread))) {
        /* the last one is played by a stop */
        player->given.count--;
        player->log.count = begin;
        player->ended = false;
        go_back(player, &last, 1);
        peek_event(player);
    }
    if (player->given.count && (!write_bases(player) || !write_log(player, &player->log)))
        end_by_difference(player, "has no memory for calls");
}

void take_inside(struct player *player) {
    const uint64_t place = QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, count);
    uint32_t taken = 0;
    size_t given = player->given.count;
    if (!given)
        return;
    player->given.count = 0;
    read_memory(player->process, place, &taken, sizeof taken);
    player->given_most = taken < given ? 2 * (size_t)taken + GIVEN_LEAST : SIZE_MAX;
    if (taken < given) {
        struct recording_place first = player->given.data[taken];
        go_back(player, &first, given - taken);
    }
    player->log.count = 0;
    write_log(player, &player->log);
}
