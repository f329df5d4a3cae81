/* player.c: repeats a recorded run; see player.h.
 *
 * The process continues up to its next system call or fault, and there the next event is what
 * comes. A signal is not delivered: the process gets the handler's frame and registers. Signals
 * from outside, which the process does not know of, are dropped.
 *
 * Each event has a hash of the registers, so a run that differs is seen at its next event. */
#include "replay/play.h"

#include "tracee/call_effects.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "x86/call_stop.h"
#include "x86/counter_read.h"
#include "x86/kernel.h"
#include "x86/step.h"
#include "x86/trap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    GO_ON = -1 /* a stop is no pause */
};

/* What a stop is, with which the process was asked to take one STEP or not. */
struct pause_request {
    bool step, interrupt;
};

/* A thread that waits in a call stands for long, so the next one is the present one now. */
static enum play_pause pause_behind(struct player *player) {
    if (!player->ended && player->thread->awaits)
        player_select(player);
    return player->ended ? PAUSE_ENDED : PAUSE_EVENT;
}

/* ---- signals ---- */

/* The process is about to enter a handler with STACK as its stack pointer. */
static void note_stack(struct player *player, uint64_t stack) {
    struct user_regs_struct before;
    const struct play_stacks *stacks = &player->thread->stacks;
    if (get_general_registers(player->process, &before) &&
        stack - stacks->start < stacks->end - stacks->start &&
        before.rsp - stacks->start >= stacks->end - stacks->start)
        player->thread->stacks.interrupted = before.rsp;
}

static void enter_handler(struct player *player, const struct signal_event *signal) {
    static struct registers registers;
    memcpy(&registers.general, signal->registers, sizeof registers.general);
    registers.general.orig_rax = UINT64_MAX;
    registers.vector_size = signal->vector_size;
    if (signal->vector_size > sizeof registers.vectors) {
        end_by_corruption(player);
        return;
    }
    memcpy(registers.vectors, signal->vectors, signal->vector_size);
    if (!write_event_memory(player, NULL))
        return;
    note_stack(player, registers.general.rsp);
    if (player->hooks->gives_inside)
        inside_return(&player->thread->process->inside, player->arena, player->process);
    if (!set_registers(player->process, &registers)) {
        end_by_difference(player, "cannot get the registers of a signal handler");
        return;
    }
    player->playing.signals++;
    finish_event(player);
}

/* Whether the next event is a signal, which SIGNAL becomes. */
static bool peek_signal(struct player *player, struct signal_event *signal) {
    if (!peek_event(player) || player->event.kind != QUIPU_EVENT_SIGNAL)
        return false;
    struct event copy = player->event;
    if (read_signal_event(&copy, signal))
        return true;
    end_by_corruption(player);
    return false;
}

/* The process is where SIGNAL, the next event, comes in. */
static enum play_pause take_signal(struct player *player, const struct signal_event *signal) {
    if (!player->announced) {
        player->announced = true;
        return PAUSE_SIGNAL;
    }
    player->announced = false;
    if (signal->ends)
        finish_event(player); /* the end follows */
    else
        enter_handler(player, signal);
    return pause_behind(player);
}

/* If the next event is a signal at PLACE, where the registers have HASH, returns the pause.
 * Otherwise GO_ON. */
static int play_signal(struct player *player, enum quipu_signal_place place, uint32_t hash) {
    struct signal_event signal;
    if (!peek_signal(player, &signal) || signal.place != place)
        return player->ended ? PAUSE_ENDED : GO_ON;
    if (place != QUIPU_SIGNAL_BEHIND && !is_same_hash(player, hash, signal.hash)) {
        end_by_difference(player, "comes to a signal with other registers");
        return PAUSE_ENDED;
    }
    return (int)take_signal(player, &signal);
}

int player_signal(struct player *player, uint8_t *info) {
    struct signal_event signal;
    if (player->ended || !peek_signal(player, &signal))
        return 0;
    memcpy(info, signal.info, QUIPU_SIGINFO_SIZE);
    return signal.signal;
}

/* ---- stops ---- */

/* Whether the next event is such a read (x86/counter_read.h), which then has been taken. */
static bool play_counter(struct player *player, const struct user_regs_struct *registers) {
    struct counter_event counter;
    if (!peek_event(player) || player->event.kind != QUIPU_EVENT_COUNTER)
        return false;
    if (!read_counter_event(&player->event, &counter)) {
        end_by_corruption(player);
    } else if (!is_same_hash(player, hash_registers(registers, false), counter.hash)) {
        end_by_difference(player,
                          "reads the time stamp counter, a random number, or cpuid, with other "
                          "registers");
    } else {
        if (answer_counter_read(player->process, counter.code, counter.size, &counter.value))
            finish_event(player);
        else
            end_by_corruption(player);
    }
    return true;
}

static enum play_pause play_fault(struct player *player, int signal) {
    struct user_regs_struct registers;
    if (!get_general_registers(player->process, &registers)) {
        end_by_difference(player, "is gone");
        return PAUSE_ENDED;
    }
    player->event_address = registers.rip;
    bool may_read = signal == SIGSEGV || signal == SIGILL;
    if (may_read && play_counter(player, &registers))
        return pause_behind(player);
    int pause = play_signal(player, QUIPU_SIGNAL_FAULT, hash_registers(&registers, false));
    if (pause != GO_ON)
        return (enum play_pause)pause;
    end_by_difference(player, arena_print(player->arena, "gets signal %d", signal));
    return PAUSE_ENDED;
}

/* If the memory inside has left the call, it looks as if the program had made it. */
static void enter_from_inside(struct player *player) {
    struct user_regs_struct registers;
    const struct inside *inside = &player->thread->process->inside;
    if (inside->is_mapped && get_general_registers(player->process, &registers))
        inside_enter(inside, player->process, &registers);
}

/* Whether to pause in front of CALL, which the thread has come to. */
static bool is_caught(struct player *player, const struct system_call *call) {
    return player->hooks->catches && player->has_come &&
           !is_other(player, player->thread->process) &&
           player->hooks->catches(player->hooks->context, call->number);
}

/* In front of a signal the process is in front of the call's instruction again, as it is once the
 * handler has returned. */
static enum play_pause play_entry(struct player *player, const struct system_call *call,
                                  bool step) {
    struct user_regs_struct registers;
    bool awaited = player->thread->awaits;
    player->thread->awaits = false;
    player->thread->call = *call;
    player->in_call = true;
    player->event_address = call_site(player->process);
    int pause = GO_ON;
    if (look_at_call(player, &registers))
        pause = play_signal(player, QUIPU_SIGNAL_BEFORE, hash_registers(&registers, true));
    if (pause == GO_ON && !step && !awaited && is_caught(player, call))
        pause = PAUSE_CALL;
    if (pause == PAUSE_SIGNAL || pause == PAUSE_CALL)
        enter_call_again(player->process);
    if (pause != GO_ON)
        return (enum play_pause)pause;
    player->thread->calls += !awaited;
    play_call(player, call);
    return pause_behind(player);
}

/* An alarm comes once. */
static int take_tick_stop(struct player *player) {
    if (play_tick(player))
        return (int)pause_behind(player);
    if (!is_at_alarm(player))
        return GO_ON;
    player->alarm_thread = 0;
    return PAUSE_TICK;
}

/* Returns what the stop is, or GO_ON. */
static int take_stop(struct player *player, int status, struct pause_request request) {
    struct thread_stop stop = read_stop(player->process, status, NULL);
    player->in_call = player->has_mapped = false;
    player->written = stop.written;
    switch (stop.reason) {
    case REASON_ENDED:
        player->process = 0;
        end_by_difference(player, "has ended");
        return PAUSE_ENDED;
    case REASON_CALL_ENTRY:
        enter_from_inside(player);
        return (int)play_entry(player, &stop.call, request.step);
    case REASON_BREAKPOINT:
        if (play_tick_stop(player))
            return take_tick_stop(player);
        if (!player->hooks->is_breakpoint ||
            !player->hooks->is_breakpoint(player->hooks->context, stop.address))
            return (int)play_fault(player, stop.signal);
        set_thread_address(player->process, stop.address);
        return play_place(player) ? (int)pause_behind(player) : PAUSE_BREAKPOINT;
    case REASON_WRITE:
    case REASON_STEP:
        if (play_tick(player) || (player->stepped && (play_step(player) || play_place(player))))
            return (int)pause_behind(player);
        if (stop.reason == REASON_WRITE)
            return PAUSE_WRITE;
        return request.step ? PAUSE_STEP : GO_ON;
    case REASON_FAULT:
        return (int)play_fault(player, stop.signal);
    case REASON_SIGNAL:
        return request.interrupt && stop.signal == SIGSTOP ? PAUSE_INTERRUPTED : GO_ON;
    default:
        return GO_ON;
    }
}

/* The same, if the thread may have been on its way to a place. */
static int handle_stop(struct player *player, int status, struct pause_request request) {
    if (leave_place(player, status) == STATE_NONE)
        return take_stop(player, status, request);
    player->in_call = player->has_mapped = false;
    if (play_place(player))
        return (int)pause_behind(player);
    return request.interrupt ? PAUSE_INTERRUPTED : GO_ON; /* the signal may be lost on the way */
}

/* ---- going ---- */

static void interrupt(struct player *player, struct pause_request *request) {
    if (request->interrupt || !player->hooks->is_interrupted(player->hooks->context))
        return;
    request->interrupt = true;
    syscall(SYS_tkill, player->process, SIGSTOP); /* that thread, which may be any of its process */
}

/* Waits for the next stop of the process. Returns as waitpid does. A single step ends soon, and is
 * not interrupted: the process might stop in front of it, and nobody would know. */
static pid_t wait_for_stop(struct player *player, struct pause_request *request, int *status) {
    sigset_t awaited;
    pid_t stopped;
    bool asks = player->hooks->is_interrupted && !request->step;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGALRM);
    for (;;) {
        stopped = waitpid(player->process, status, asks ? __WALL | WNOHANG : __WALL);
        if (stopped > 0 || (stopped < 0 && errno != EINTR))
            return stopped;
        if (asks && sigwaitinfo(&awaited, NULL) == SIGALRM)
            interrupt(player, request);
    }
}

/* Continues the process, and waits for its next stop. Returns false if there is none. */
static bool resume(struct player *player, struct pause_request *request, int *status) {
    struct single_step step = {0};
    if (request->step)
        step = begin_step(player->process);
    else if (player->stepped)
        end_steps(player->process);
    player->stepped = step.is_step;
    player->last = step.address;
    player->is_entered = !step.is_step && !player->in_call && will_make_call(player);
    long how = step.is_step ? PTRACE_SYSEMU_SINGLESTEP : PTRACE_SYSEMU;
    if (player->is_entered)
        how = PTRACE_SYSCALL;
    if (ptrace(how, player->process, NULL, NULL) != 0 && errno != ESRCH)
        CHECK(!"the process can be continued");
    pid_t stopped = wait_for_stop(player, request, status);
    if (stopped == player->process && WIFSTOPPED(*status))
        finish_step(player->process, &step);
    return stopped == player->process;
}

/* Goes on to the next pause. */
static enum play_pause go_on(struct player *player, bool step) {
    struct pause_request request = {.step = step};
    struct signal_event signal;
    if (!player_select(player))
        return PAUSE_ENDED;
    player->has_result = player->is_entered = false;
    player->counts = !is_other(player, player->thread->process);
    if (player->hooks->is_armed && refuse_armed(player))
        return PAUSE_ENDED;
    if (player->event.kind == QUIPU_EVENT_LOOP) {
        play_loop(player);
        return pause_behind(player);
    }
    if (player->thread->awaits) {
        const struct system_call call = player->thread->call;
        return play_entry(player, &call, true);
    }
    if (peek_signal(player, &signal) &&
        (signal.place == QUIPU_SIGNAL_BEHIND || player->announced)) {
        if (signal.place == QUIPU_SIGNAL_BEHIND)
            player->event_address = 0;
        return take_signal(player, &signal);
    }
    int pause = player->ended ? PAUSE_ENDED : GO_ON;
    if (pause == GO_ON && play_place(player))
        return pause_behind(player);
    while (pause == GO_ON) {
        int status = 0;
        request.step = step || needs_step(player);
        if (!request.step)
            give_inside(player);
        approach_tick(player, request.step);
        approach_place(player, request.step);
        if (player->ended)
            return PAUSE_ENDED;
        if (resume(player, &request, &status)) {
            take_inside(player);
            request.step = step;
            pause = handle_stop(player, status, request);
        } else {
            player->process = 0;
            end_by_difference(player, "is gone");
            pause = PAUSE_ENDED;
        }
        leave_tick(player);
    }
    return (enum play_pause)pause;
}

/* Whether the next event is one of a process that executes in the memory of the one that plays. */
static bool is_others(struct player *player) {
    return !player_is_alone(player) && player_select(player) &&
           is_other(player, player->thread->process);
}

enum play_pause player_go(struct player *player, bool step) {
    enum play_pause pause = go_on(player, step);
    if (pause != PAUSE_EVENT || !is_others(player))
        return pause;
    if (player->hooks->prepare_others)
        player->hooks->prepare_others(player->hooks->context);
    bool has_result = player->has_result;
    uint64_t result_of = player->result_of, event_address = player->event_address;
    while (is_others(player))
        go_on(player, false);
    player_select(player);
    player->event_address = event_address;
    player->has_result = has_result;
    player->result_of = result_of;
    return player->ended ? PAUSE_ENDED : PAUSE_EVENT;
}

/* ---- places ---- */

const struct playing *player_playing(const struct player *player) {
    return &player->playing;
}

pid_t player_process(const struct player *player) {
    return player->process;
}

pid_t player_number(const struct player *player) {
    return player->number;
}

pid_t player_thread(const struct player *player) {
    return player->thread->recorded;
}

pid_t player_memory(const struct player *player, pid_t *recorded) {
    const struct play_process *process = player->thread->process;
    while (process->lender)
        process = process->lender;
    *recorded = process->recorded;
    return process->number;
}

int player_shared(const struct player *player) {
    return player->shared;
}

bool player_select(struct player *player) {
    return !player->ended && peek_event(player) && select_thread(player);
}

bool player_is_waiting(const struct player *player) {
    return player->thread->awaits;
}

unsigned player_written(const struct player *player) {
    return player->written;
}

bool player_call(const struct player *player, uint64_t *number) {
    *number = player->result_of;
    return player->has_result;
}

uint64_t player_event_address(const struct player *player) {
    return player->event_address;
}

pid_t player_event_thread(const struct player *player) {
    return player->event_thread;
}

bool player_has_mapped(const struct player *player) {
    return player->has_mapped;
}

uint64_t player_events(const struct player *player) {
    return player->events;
}

/* ---- begin and end ---- */

void player_end(struct player *player) {
    for (struct play_process *at = player->processes; at; at = at->next)
        kill_process(player, at);
    arena_release(&player->event_arena);
    arena_release(&player->start_arena);
    buffer_release(&player->log);
    recording_close(&player->recording);
    if (player->shared >= 0)
        close(player->shared);
    if (player->mapped_file >= 0)
        close(player->mapped_file);
}

/* Goes to the begin of the process that is to be played. */
static const char *go_to_process(struct player *player) {
    while (player->depth + 1 < player->hooks->path.count)
        if (go_on(player, false) == PAUSE_ENDED)
            return player->playing.message ? player->playing.message
                                           : "the process is not come to; the recording was cut";
    player->has_come = true;
    return NULL;
}

const char *player_begin(struct arena *arena, const char *path, const struct play_hooks *hooks,
                         struct player **made) {
    struct player *player = ARENA_NEW(arena, struct player);
    *player = (struct player){.arena = arena, .hooks = hooks, .given_most = SIZE_MAX};
    const char *wrong = recording_open(arena, path, &player->recording);
    player->shared = memfd_create("quipu", 0); /* the processes inherit both */
    begin_mapped_file(player);
    if (!wrong &&
        (player->shared < 0 || ftruncate(player->shared, (off_t)player_shared_end()) != 0))
        wrong = arena_print(arena, "cannot make shared memory: %s", strerror(errno));
    if (!wrong && peek_event(player) && player->event.kind == QUIPU_EVENT_IMAGE)
        wrong = play_image(player);
    else if (!wrong)
        wrong = start_play(player);
    if (wrong) {
        player_end(player);
        return wrong;
    }
    if (hooks->path.count)
        player->own = player->thread->process;
    finish_event(player);
    wrong = go_to_process(player);
    if (wrong) {
        player_end(player);
        return wrong;
    }
    player->events = 0;
    *made = player;
    return NULL;
}

static void write_stream(void *context, int stream, const void *bytes, size_t size) {
    (void)context;
    write_whole(stream, bytes, size); /* whoever reads it may have gone */
}

enum played play_recording(struct arena *arena, const char *path, struct playing *playing) {
    static const struct play_hooks hooks = {.write_output = write_stream, .gives_inside = true};
    struct player *player;
    const char *wrong = player_begin(arena, path, &hooks, &player);
    if (wrong) {
        *playing = (struct playing){.end = PLAYED_WRONG, .message = wrong};
        return PLAYED_WRONG;
    }
    while (player_go(player, false) != PAUSE_ENDED)
        ;
    *playing = player->playing;
    player_end(player);
    return playing->end;
}
