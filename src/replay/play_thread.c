/* play_thread.c: the threads and processes of a player: their begins, ends, and which one plays;
 * see play.h.
 *
 * Each process is a child of the player itself, so the player alone waits for it. Threads and
 * copies are made by the kernel out of the thread that has made them in the recording: by a call of
 * its own kind, whose flags are the player's. */
#include "replay/play.h"

#include "x86/call_stop.h"
#include "x86/clone_call.h"
#include "x86/kernel.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct play_process *add_play_process(struct player *player, pid_t number, pid_t recorded) {
    struct play_process *process = ARENA_NEW(player->arena, struct play_process);
    *process = (struct play_process){.next = player->processes,
                                     .number = number,
                                     .recorded = recorded,
                                     .is_first = player->threads.count == 0};
    return player->processes = process;
}

struct play_thread *add_play_thread(struct player *player, struct play_process *process,
                                    pid_t number, pid_t recorded) {
    struct play_thread *thread = ARENA_NEW(player->arena, struct play_thread);
    if (!process)
        process = add_play_process(player, number, recorded);
    *thread = (struct play_thread){.process = process, .number = number, .recorded = recorded};
    vector_push(player->arena, &player->threads, thread);
    return thread;
}

/* Returns the thread ID of the recording, which plays, or NULL. */
static struct play_thread *find_play_thread(const struct player *player, uint32_t id) {
    struct play_thread *thread =
        id && id <= player->threads.count ? player->threads.data[id - 1] : NULL;
    return thread && thread->process ? thread : NULL;
}

static void play(struct player *player, struct play_thread *thread) {
    player->thread->in_call = player->in_call;
    player->thread->stepped = player->stepped;
    player->thread = thread;
    player->process = thread->number;
    player->in_call = thread->in_call;
    player->stepped = thread->stepped;
}

bool select_thread(struct player *player) {
    struct clone_event made;
    uint32_t id = player->event.thread;
    if (player->event.kind == QUIPU_EVENT_CLONE) {
        struct event copy = player->event;
        id = read_clone_event(&copy, &made) ? made.maker : 0;
    }
    struct play_thread *thread = find_play_thread(player, id);
    if (thread)
        play(player, thread);
    else
        end_by_corruption(player);
    return thread;
}

/* ---- begins ---- */

/* Continues to the stop for REASON, with CHILD if that is one. Returns false if there is none. */
static bool next_stop(pid_t number, long how, enum stop_reason reason, pid_t *child) {
    struct thread_stop stop;
    int status;
    do {
        if (ptrace(how, number, NULL, NULL) != 0 || waitpid(number, &status, __WALL) != number ||
            !WIFSTOPPED(status))
            return false;
        stop = read_stop(number, status, NULL);
        if (child && stop.child)
            *child = stop.child;
    } while (stop.reason != reason);
    return true;
}

bool await_call(pid_t thread) {
    return enter_call_again(thread) && next_stop(thread, PTRACE_SYSEMU, REASON_CALL_ENTRY, NULL);
}

uint64_t clone_flags(enum quipu_clone_kind kind) {
    switch (kind) {
    case QUIPU_CLONE_THREAD:
        return CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    case QUIPU_CLONE_SHARED:
        return CLONE_VM | CLONE_PARENT | SIGCHLD;
    default:
        return CLONE_PARENT | SIGCHLD;
    }
}

/* The thread that plays makes another one. Returns the number of that, or 0. */
static pid_t make_thread(struct player *player, enum quipu_clone_kind kind) {
    pid_t number = player->process, child = 0;
    struct user_regs_struct registers;
    int status;
    if (!get_general_registers(number, &registers) || !enter_call_again(number) ||
        !next_stop(number, PTRACE_SYSCALL, REASON_CALL_ENTRY, NULL) ||
        !replace_clone_call(number, clone_flags(kind)) ||
        !next_stop(number, PTRACE_SYSCALL, REASON_CALL_EXIT, &child) ||
        !set_general_registers(number, &registers) || !await_call(number) || !child ||
        waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
        return 0;
    return child;
}

bool player_is_alone(const struct player *player) {
    return !player->own || (player->processes == player->own && !player->own->next);
}

/* Whether the thread NUMBER of the recording is the first of a process that leads to that which
 * plays. */
static bool is_on_path(const struct player *player, uint32_t number) {
    const thread_path *path = &player->hooks->path;
    return player->own && player->depth + 1 < path->count &&
           path->data[player->depth + 1] == number;
}

/* PROCESS, which leads to that which plays, takes the place of the one before. */
static void take_path(struct player *player, struct play_process *process) {
    for (struct play_process *at = player->processes, *next; at; at = next) {
        next = at->next;
        if (at != process)
            drop_play_process(player, at);
    }
    struct program_file *program = ARENA_NEW(player->arena, struct program_file);
    *program = *process->program;
    program->begin = 0;
    process->program = program;
    process->is_first = true;
    player->own = process;
    player->number = process->recorded;
    player->depth++;
    player->playing.calls = player->playing.signals = 0;
}

/* The next thread gets its name, unless it has one from an earlier time. */
static void name_next_thread(struct player *player, const struct clone_event *made) {
    if (player->names.count == player->threads.count)
        names_add(player->arena, &player->names, made);
}

/* A thread of the recording that does not play. */
static void add_absent_thread(struct player *player) {
    struct play_thread *thread = ARENA_NEW(player->arena, struct play_thread);
    *thread = (struct play_thread){0};
    vector_push(player->arena, &player->threads, thread);
}

/* The new process COPY has what PROCESS has. */
static void copy_process(struct player *player, struct play_process *process,
                         struct play_process *copy, enum quipu_clone_kind kind) {
    copy->program = process->program;
    copy->ticks = ticks_of_copy(&process->ticks);
    inside_copy(player->arena, &process->inside, &copy->inside);
    copy->inside.is_shared = kind == QUIPU_CLONE_SHARED;
    copy->data = process->data;
    copy->lender = kind == QUIPU_CLONE_SHARED ? process : NULL;
    process->inside.is_shared |= kind == QUIPU_CLONE_SHARED;
}

void play_clone(struct player *player, const struct system_call *call) {
    struct clone_event made;
    struct user_regs_struct registers;
    struct play_thread *maker = player->thread;
    if (!is_clone_call(call->number)) {
        end_by_difference(player, "does not make a thread or process");
        return;
    }
    if (!read_clone_event(&player->event, &made) ||
        player->event.thread != player->threads.count + 1) {
        end_by_corruption(player);
        return;
    }
    name_next_thread(player, &made);
    bool leads = is_on_path(player, player->event.thread);
    if (player->own && made.kind == QUIPU_CLONE_COPY && !leads) {
        maker->awaits = true;
        maker->call = *call;
        add_absent_thread(player);
        finish_event(player);
        return;
    }
    pid_t number = make_thread(player, made.kind);
    if (!number) {
        end_by_difference(player, arena_print(player->arena, "cannot make a thread or process: %s",
                                              strerror(errno)));
        return;
    }
    bool is_thread = made.kind == QUIPU_CLONE_THREAD;
    maker->awaits = true;
    maker->call = *call;
    play(player,
         add_play_thread(player, is_thread ? maker->process : NULL, number, (pid_t)made.number));
    if (!is_thread)
        copy_process(player, maker->process, player->thread->process, made.kind);
    if (leads)
        take_path(player, player->thread->process);
    memcpy(&registers, made.registers, sizeof registers);
    registers.orig_rax = UINT64_MAX;
    if (!set_general_registers(number, &registers))
        end_by_difference(player, "cannot get the registers of a new thread");
    else if (write_event_memory(player, NULL))
        finish_event(player);
}

/* ---- ends ---- */

static void await(pid_t number) {
    int status;
    while (waitpid(number, &status, __WALL) == number && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, number, NULL, NULL);
}

void kill_process(struct player *player, struct play_process *process) {
    if (process->number) /* 0 would be all of our own group */
        kill(process->number, SIGKILL);
    for (size_t i = 0; i < player->threads.count; i++) {
        struct play_thread *thread = player->threads.data[i];
        if (thread->process != process)
            continue;
        if (thread->number != process->number)
            await(thread->number);
        thread->process = NULL;
    }
    await(process->number);
    ticks_forget(&process->ticks);
}

static void unlink_process(struct player *player, const struct play_process *process) {
    struct play_process **link = &player->processes;
    while (*link != process)
        link = &(*link)->next;
    *link = process->next;
}

void drop_play_process(struct player *player, struct play_process *process) {
    kill_process(player, process);
    unlink_process(player, process);
}

/* The last process has ended. */
static void end_all(struct player *player) {
    const char *stopped = player->playing.message;
    end_play(player, stopped ? PLAYED_STOPPED : PLAYED_END, stopped);
}

/* The last process stays where it is, for a debugger. */
static void end_process(struct player *player, struct play_process *process) {
    bool is_last = player->processes == process && !process->next;
    if (player->own ? player->own == process : is_last) {
        end_all(player);
        return;
    }
    drop_play_process(player, process);
    player->process = 0;
}

/* Returns another thread of its process, or NULL. */
static struct play_thread *find_sibling(const struct player *player,
                                        const struct play_thread *thread) {
    for (size_t i = 0; i < player->threads.count; i++)
        if (player->threads.data[i] != thread &&
            player->threads.data[i]->process == thread->process)
            return player->threads.data[i];
    return NULL;
}

/* Whether the thread was the first of its process when that was recorded, and so has its end. One
 * that has executed a program became that. */
static bool is_recorded_first(const struct player *player, const struct play_thread *thread) {
    const struct play_process *process = thread->process;
    bool is_another = thread->number != process->number;
    for (size_t i = 0; i < player->threads.count && !is_another; i++)
        is_another = player->threads.data[i]->process == process &&
                     player->threads.data[i]->recorded == process->recorded;
    return thread->recorded == process->recorded || !is_another;
}

/* A thread that makes its last call does so, unless the kernel has it as the first of its process,
 * as it has in a copy that was made while the thread played: that one stands, and is no longer
 * known. So do others, the first and the last one, until their process ends, and these are. */
static void end_thread(struct player *player) {
    struct play_thread *thread = player->thread, *sibling = find_sibling(player, thread);
    bool is_last_call = thread->call.number == SYS_exit && player->in_call;
    if (!sibling || !is_last_call || is_recorded_first(player, thread))
        return;
    if (thread->number != thread->process->number && repeat_call(thread->number, SYS_exit) &&
        ptrace(PTRACE_CONT, thread->number, NULL, NULL) == 0)
        await(thread->number);
    thread->process = NULL;
    play(player, sibling);
}

static void take_end(struct player *player) {
    struct play_process *process = player->thread->process;
    int status;
    if (!read_end_event(&player->event, &status)) {
        end_by_corruption(player);
        return;
    }
    if (process->is_first)
        player->playing.status = status;
    end_process(player, process);
}

static void take_stopped(struct player *player) {
    struct play_process *process = player->thread->process;
    const char *why = "";
    if (!read_stopped_event(&player->event, &why)) {
        end_by_corruption(player);
        return;
    }
    why = arena_copy(player->arena, why, strlen(why));
    if (process->is_first)
        player->playing.message = why;
    else
        player->playing.left = why;
    end_process(player, process);
}

static void take_exit(struct player *player) {
    if (!read_exit_event(&player->event))
        end_by_corruption(player);
    else if (write_event_memory(player, NULL))
        end_thread(player);
}

/* Whether the next event is of a thread that does not play. */
static bool is_absent(struct player *player) {
    struct clone_event made = {0};
    struct event copy = player->event;
    bool is_begin = player->event.kind == QUIPU_EVENT_CLONE && read_clone_event(&copy, &made);
    uint32_t id = is_begin ? made.maker : player->event.thread;
    if (!player->own || !id || id > player->threads.count || player->threads.data[id - 1]->process)
        return false;
    if (is_begin) {
        name_next_thread(player, &made);
        add_absent_thread(player);
    }
    return true;
}

bool play_quietly(struct player *player) {
    if (is_absent(player))
        return true;
    static void (*const plays[QUIPU_EVENT_KINDS])(struct player *) = {
        [QUIPU_EVENT_START] = play_program,
        [QUIPU_EVENT_END] = take_end,
        [QUIPU_EVENT_STOPPED] = take_stopped,
        [QUIPU_EVENT_EXIT] = take_exit,
    };
    void (*done)(struct player *) = plays[player->event.kind];
    struct play_thread *former = player->thread;
    if (!done || !select_thread(player))
        return false;
    done(player);
    if (player->own && former->process == player->own)
        play(player, former); /* others are not to be seen */
    return !player->ended;
}
