/* play_state.c: places on the time line of a player, to come back to; see player.h.
 *
 * A fork copies one thread: that which plays. The others are made again in the copy, with the
 * registers that they had. Each of them stands behind its last event, or waits in front of a call.
 *
 * Not perfect: of several processes only that which plays comes back, from where it is alone. */
#include "replay/play.h"

#include "x86/call_stop.h"
#include "x86/kernel.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct saved_thread {
    uint32_t id; /* in the recording */
    pid_t number, recorded;
    bool awaits;
    struct play_stacks stacks;
    struct system_call call;
    uint64_t calls;
    struct user_regs_struct general;
    size_t vector_size;
    uint8_t *vectors;
};

bool player_settle(struct player *player) {
    int status;
    if (player->thread->awaits || !player_is_alone(player))
        return false;
    if (!player->in_call)
        return true;
    player->in_call = false;
    return ptrace(PTRACE_SYSCALL, player->process, NULL, NULL) == 0 &&
           waitpid(player->process, &status, __WALL) == player->process && WIFSTOPPED(status);
}

/* ---- saving ---- */

static struct saved_thread save_thread(struct player *player, uint32_t id,
                                       const struct play_thread *thread) {
    static struct registers registers;
    struct saved_thread saved = {.id = id,
                                 .number = thread->number,
                                 .recorded = thread->recorded,
                                 .awaits = thread->awaits,
                                 .stacks = thread->stacks,
                                 .call = thread->call,
                                 .calls = thread->calls};
    if (thread == player->thread || !get_registers(thread->number, &registers))
        return saved;
    saved.general = registers.general;
    saved.vector_size = registers.vector_size;
    saved.vectors = arena_alloc(player->arena, registers.vector_size);
    memcpy(saved.vectors, registers.vectors, registers.vector_size);
    return saved;
}

struct play_state player_save(struct player *player) {
    const struct play_process *process = own_process(player);
    size_t count = player->threads.count;
    struct play_state state = {
        .place = player->place,
        .stacks = player->thread->stacks,
        .playing = player->playing,
        .events = player->events,
        .steps = player->steps,
        .announced = player->announced,
        .has_result = player->has_result,
        .result_of = player->result_of,
        .ended = player->ended,
        .process = process->number,
        .program = process->program,
        .known = count,
        .threads = ARENA_ARRAY(player->arena, struct saved_thread, count),
    };
    for (size_t i = 0; i < count; i++) {
        const struct play_thread *thread = player->threads.data[i];
        if (thread == player->thread)
            state.thread = i;
        if (thread->process == process)
            state.threads[state.count++] = save_thread(player, (uint32_t)i + 1, thread);
    }
    for (size_t i = 0; i < state.count; i++)
        if (state.threads[i].general.rsp > state.stacks.others)
            state.stacks.others = state.threads[i].general.rsp;
    return state;
}

/* ---- going back ---- */

/* Makes a thread beside PROCESS. Returns its number, or 0. */
static pid_t make_beside(pid_t process, uint64_t site, const struct saved_thread *saved) {
    static struct registers registers;
    const uint64_t arguments[6] = {clone_flags(QUIPU_CLONE_THREAD)};
    pid_t number = 0;
    if (inject_call(process, site, SYS_clone, arguments, &number) <= 0 || !number)
        return 0;
    registers.general = saved->general;
    registers.vector_size = saved->vector_size;
    memcpy(registers.vectors, saved->vectors, saved->vector_size);
    if (!saved->awaits)
        registers.general.orig_rax = UINT64_MAX;
    if (!set_registers(number, &registers) || (saved->awaits && !await_call(number)))
        return 0;
    return number;
}

/* The threads of PROCESS are those of STATE again; that which plays has NUMBER. */
static const char *restore_threads(struct player *player, const struct play_state *state,
                                   struct play_process *process, pid_t number, uint64_t site) {
    for (size_t i = 0; i < player->threads.count; i++)
        if (player->threads.data[i]->process == process)
            player->threads.data[i]->process = NULL;
    player->threads.count = state->known;
    for (size_t i = 0; i < state->count; i++) {
        const struct saved_thread *saved = &state->threads[i];
        struct play_thread *thread = player->threads.data[saved->id - 1];
        thread->process = process;
        thread->awaits = thread->in_call = saved->awaits;
        thread->stepped = false;
        thread->call = saved->call;
        thread->calls = saved->calls;
        thread->stacks = saved->stacks;
        thread->tick.block = 0;
        thread->number = saved->number;
        thread->recorded = saved->recorded;
        if (saved->id - 1 == state->thread)
            thread->number = number;
        else if (number && !state->whole)
            thread->number = make_beside(number, site, saved);
        if (number && !thread->number)
            return "a thread cannot be made again";
    }
    return NULL;
}

/* Those that have the memory of the process that plays were not there. */
static void drop_others(struct player *player) {
    for (struct play_process *at = player->processes, *next; at; at = next) {
        next = at->next;
        if (is_other(player, at))
            drop_play_process(player, at);
    }
}

const char *player_restore(struct player *player, const struct play_state *state, pid_t number,
                           uint64_t site) {
    struct play_process *process = own_process(player);
    drop_others(player);
    forget_event(player);
    player->place = state->place;
    player->playing = state->playing;
    player->events = state->events;
    player->steps = state->steps;
    player->announced = state->announced;
    player->has_result = state->has_result;
    player->result_of = state->result_of;
    player->ended = state->ended;
    process->number = number && state->whole ? state->process : number;
    process->program = state->program;
    process->ticks.armed = false; /* the copy may be older */
    player->thread = player->threads.data[state->thread];
    player->process = number;
    player->stepped = false;
    const char *wrong = restore_threads(player, state, process, number, site);
    player->in_call = player->thread->in_call;
    return wrong ? wrong : recording_seek(&player->recording, &state->place);
}
