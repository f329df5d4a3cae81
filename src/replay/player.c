/* player.c: repeats a recorded run; see player.h.
 *
 * The process continues up to its next system call or fault, and there the next event is what
 * comes. A signal is not delivered: the process gets the handler's frame and registers. Signals
 * from outside, which the process does not know of, are dropped.
 *
 * Each event has a hash of the registers, so a run that differs is seen at its next event. */
#include "replay/play.h"

#include "tracee/call_effects.h"
#include "util/diag.h"
#include "x86/call_stop.h"
#include "x86/counter_read.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the end ---- */

void end_play(struct player *player, enum played end, const char *message) {
    if (player->ended)
        return;
    player->ended = true;
    player->end = end;
    player->playing->message = message;
}

void end_by_difference(struct player *player, const char *does) {
    struct user_regs_struct registers = {0};
    get_general_registers(player->process, &registers);
    end_play(player, PLAYED_DIFFERS,
             arena_print(player->arena,
                         "the run differs from the recording behind %llu system calls and %llu "
                         "signals, at address 0x%llx: it %s",
                         (unsigned long long)player->playing->calls,
                         (unsigned long long)player->playing->signals,
                         (unsigned long long)registers.rip, does));
}

void end_by_corruption(struct player *player) {
    end_play(player, PLAYED_WRONG,
             arena_print(player->arena, "'%s' is corrupt: an event behind %llu system calls",
                         player->recording.path, (unsigned long long)player->playing->calls));
}

/* ---- events ---- */

/* Memory events are copied: the next block may replace them. */
static bool keep_memory(struct player *player, struct event *event) {
    struct memory_event memory;
    if (!read_memory_event(event, &memory))
        return false;
    uint8_t *bytes = arena_alloc(&player->event_arena, memory.size);
    memcpy(bytes, memory.bytes, memory.size);
    memory.bytes = bytes;
    vector_push(&player->event_arena, &player->memory, memory);
    return true;
}

bool peek_event(struct player *player) {
    const char *wrong = NULL;
    while (!player->has_event) {
        enum reading reading = recording_next(&player->recording, &player->event, &wrong);
        if (reading == READING_CUT)
            end_play(player, PLAYED_CUT, NULL);
        else if (reading == READING_WRONG)
            end_play(player, PLAYED_WRONG, wrong);
        if (reading != READING_EVENT)
            return false;
        if (player->event.kind != QUIPU_EVENT_MEMORY) {
            player->has_event = true;
        } else if (!keep_memory(player, &player->event)) {
            end_by_corruption(player);
            return false;
        }
    }
    return true;
}

bool write_event_memory(struct player *player, const uint64_t arguments[6]) {
    for (size_t i = 0; i < player->memory.count; i++) {
        const struct memory_event *memory = &player->memory.data[i];
        uint64_t address = memory->address;
        if (memory->argument < QUIPU_MEMORY_ADDRESS)
            address = arguments ? arguments[memory->argument] : 0;
        if (memory->size && !write_memory(player->process, address, memory->bytes, memory->size)) {
            end_by_difference(player, arena_print(player->arena, "has no memory at 0x%llx",
                                                  (unsigned long long)address));
            return false;
        }
    }
    return true;
}

static void take_end(struct player *player) {
    const char *why = "";
    bool good = player->event.kind == QUIPU_EVENT_END
                    ? read_end_event(&player->event, &player->playing->status)
                    : read_stopped_event(&player->event, &why);
    if (!good)
        end_by_corruption(player);
    else if (player->event.kind == QUIPU_EVENT_END)
        end_play(player, PLAYED_END, NULL);
    else
        end_play(player, PLAYED_STOPPED, arena_copy(player->arena, why, strlen(why)));
}

/* ---- signals ---- */

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
    if (!set_registers(player->process, &registers)) {
        end_by_difference(player, "cannot get the registers of a signal handler");
        return;
    }
    player->playing->signals++;
    finish_event(player);
}

/* The event's signal comes, at a place whose registers have HASH. */
static void take_signal(struct player *player, const struct signal_event *signal, uint32_t hash) {
    if (signal->place != QUIPU_SIGNAL_BEHIND && signal->hash != hash)
        end_by_difference(player, "comes to a signal with other registers");
    else if (!signal->ends)
        enter_handler(player, signal);
    else
        finish_event(player); /* the end follows */
}

void finish_event(struct player *player) {
    struct signal_event signal;
    arena_release(&player->event_arena);
    player->memory.count = player->memory.capacity = 0;
    player->memory.data = NULL;
    player->has_event = false;
    if (player->ended || !peek_event(player))
        return;
    if (player->event.kind == QUIPU_EVENT_END || player->event.kind == QUIPU_EVENT_STOPPED) {
        take_end(player);
    } else if (player->event.kind == QUIPU_EVENT_SIGNAL) {
        struct event copy = player->event;
        if (!read_signal_event(&copy, &signal))
            end_by_corruption(player);
        else if (signal.place == QUIPU_SIGNAL_BEHIND)
            take_signal(player, &signal, 0);
    }
}

/* Whether the next event is a signal at PLACE, which then has been taken. HASH is that of the
 * registers. */
static bool play_signal(struct player *player, enum quipu_signal_place place, uint32_t hash) {
    struct signal_event signal;
    if (!peek_event(player) || player->event.kind != QUIPU_EVENT_SIGNAL)
        return false;
    struct event copy = player->event;
    if (!read_signal_event(&copy, &signal) || signal.place != place)
        return false;
    take_signal(player, &signal, hash);
    return true;
}

/* ---- stops ---- */

/* Whether the next event is a read of the time stamp counter, which then has been taken. */
static bool play_counter(struct player *player, const struct user_regs_struct *registers) {
    struct counter_event counter;
    if (!peek_event(player) || player->event.kind != QUIPU_EVENT_COUNTER)
        return false;
    if (!read_counter_event(&player->event, &counter)) {
        end_by_corruption(player);
    } else if (counter.hash != hash_registers(registers, false)) {
        end_by_difference(player, "reads the time stamp counter with other registers");
    } else {
        answer_counter_read(player->process, counter.size, counter.value, counter.processor);
        finish_event(player);
    }
    return true;
}

static void play_fault(struct player *player, const struct thread_stop *stop) {
    struct user_regs_struct registers;
    if (!get_general_registers(player->process, &registers))
        return;
    bool may_read = stop->signal == SIGSEGV || stop->signal == SIGILL;
    if ((!may_read || !play_counter(player, &registers)) &&
        !play_signal(player, QUIPU_SIGNAL_FAULT, hash_registers(&registers, false)))
        end_by_difference(player, arena_print(player->arena, "gets signal %d", stop->signal));
}

static void play_entry(struct player *player, const struct system_call *call) {
    struct user_regs_struct registers;
    if (get_general_registers(player->process, &registers) &&
        play_signal(player, QUIPU_SIGNAL_BEFORE, hash_registers(&registers, true)))
        return;
    if (!player->ended)
        play_call(player, call);
}

static void take_stop(struct player *player, int status) {
    struct thread_stop stop = read_stop(player->process, status, NULL);
    switch (stop.reason) {
    case REASON_ENDED:
        player->process = 0;
        end_by_difference(player, "has ended");
        break;
    case REASON_CALL_ENTRY:
        play_entry(player, &stop.call);
        break;
    case REASON_FAULT:
    case REASON_BREAKPOINT:
    case REASON_STEP:
        play_fault(player, &stop);
        break;
    default:
        break;
    }
}

static void run(struct player *player) {
    while (!player->ended) {
        int status = 0;
        if (ptrace(PTRACE_SYSEMU, player->process, NULL, NULL) != 0 && errno != ESRCH)
            CHECK(!"the process can be continued");
        if (waitpid(player->process, &status, __WALL) == player->process)
            take_stop(player, status);
        else if (errno != EINTR)
            end_by_difference(player, "is gone");
    }
}

enum played play_recording(struct arena *arena, const char *path, struct playing *playing) {
    struct player player = {.arena = arena, .playing = playing};
    *playing = (struct playing){0};
    const char *wrong = recording_open(arena, path, &player.recording);
    if (!wrong)
        wrong = start_play(&player);
    if (!wrong) {
        player.streams = streams_begin();
        finish_event(&player);
        run(&player);
    }
    if (player.process || player.tracee.process)
        kill_tracee(&player.tracee);
    if (wrong) {
        player.end = PLAYED_WRONG;
        playing->message = wrong;
    }
    arena_release(&player.event_arena);
    arena_release(&player.tracee.arena);
    recording_close(&player.recording);
    return player.end;
}
