/* play_start.c: starts a recorded program again; see play.h.
 *
 * The memory in front of the first instruction must be that of the recording. Only the stack
 * differs, by what the kernel puts on it: random bytes, the path. It is written from the
 * recording, as are the registers. Nothing has been executed then. */
#include "replay/play.h"

#include "replay/start.h"
#include "util/diag.h"
#include "util/refusal.h"
#include "x86/call_stop.h"
#include "x86/kernel.h"
#include "x86/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reads the start, the first event of a recording. */
static const char *take_start(struct player *player, struct start *start) {
    const char *path = player->recording.path;
    if (!peek_event(player))
        return player->playing.end == PLAYED_WRONG
                   ? player->playing.message
                   : arena_print(player->arena, "'%s' was cut before the program began", path);
    if (player->event.kind != QUIPU_EVENT_START ||
        !read_start_event(&player->start_arena, &player->event, start))
        return arena_print(player->arena, "'%s' is corrupt: it does not begin with a process",
                           path);
    if (player->event.thread != 1)
        return arena_print(player->arena, "'%s' is corrupt: it begins with another thread", path);
    player->has_event = false;
    return NULL;
}

void bind_processor(uint32_t processor) {
    cpu_set_t one;
    if (processor >= CPU_SETSIZE)
        return;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* What the kernel has put below the recorded stack pointer of START, because the paths that it puts
 * on the stack are longer HERE, would be seen in variables that the program has not set. */
static bool clear_below_stack(struct player *player, const struct start *start,
                              const struct start *here) {
    uint64_t top = start->registers.rsp, bottom = here->registers.rsp;
    uint64_t size = bottom < top ? top - bottom : 0;
    if (size > here->stack_size)
        return false;
    uint8_t *zeros = arena_alloc(&player->start_arena, size);
    memset(zeros, 0, size);
    return write_memory(player->process, bottom, zeros, size);
}

/* The stack that the kernel has made must be where the recorded one was, or the rest of it is
 * missing. */
static bool write_stack(struct player *player, const struct start *start,
                        const struct start *here) {
    return clear_below_stack(player, start, here) &&
           write_memory(player->process, start->registers.rsp, start->stack, start->stack_size) &&
           set_general_registers(player->process, &start->registers);
}

static const char *make_equal(struct player *player, const struct start *start) {
    const uint64_t arguments[6] = {PR_SET_TSC, PR_TSC_SIGSEGV};
    const struct tracee tracee = {.process = player->process};
    struct start here;
    if (ptrace(PTRACE_SETOPTIONS, player->process, NULL, (void *)PLAY_OPTIONS) != 0)
        return refusal(player->arena, "ptrace", 0, errno);
    if (has_random_addresses(&tracee))
        return "address randomization cannot be turned off here, and a replay must have the "
               "addresses of the recorded run; in a container, allow 'personality' in the seccomp "
               "profile";
    if (!describe_start(&player->start_arena, player->process, 0, &here))
        return arena_print(player->arena, "its memory cannot be read: %s", strerror(errno));
    const char *wrong = compare_starts(player->arena, start, &here);
    if (wrong)
        return wrong;
    inject_first_call(player->process, SYS_prctl, arguments); /* not all machines have it */
    if (!write_stack(player, start, &here) || !write_event_memory(player, NULL))
        return arena_print(player->arena, "the memory of '%s' cannot be written", start->path);
    return NULL;
}

const char *other_processor(struct player *player) {
    return arena_print(player->arena,
                       "'%s' was recorded on a processor with other features; play it on a machine "
                       "with the same one",
                       player->recording.path);
}

/* Starts the program of START. Sets PROCESS to its number. */
static const char *start_program(struct player *player, const struct start *start, pid_t *process) {
    char **argv, **environment;
    *process = 0;
    if (!start_words(&player->start_arena, start, &argv, &environment) || !argv[0])
        return arena_print(player->arena, "'%s' is corrupt: the arguments of its program",
                           player->recording.path);
    if (start->identity != processor_identity())
        return other_processor(player);
    bind_processor(start->processor);
    return execute_file(player, start, argv, environment, process);
}

const char *start_play(struct player *player) {
    struct start start = {.path = ""};
    pid_t process;
    const char *wrong = take_start(player, &start);
    if (!wrong)
        wrong = start_program(player, &start, &process);
    if (wrong)
        return wrong;
    player->number = start.process;
    player->thread = add_play_thread(player, NULL, process, start.process);
    names_begin(player->arena, &player->names);
    player->process = process;
    player->thread->process->program = file_of_program(player->arena, &start);
    return make_equal(player, &start);
}

void play_program(struct player *player) {
    struct start start = {.path = ""};
    struct play_thread *thread = player->thread;
    pid_t process;
    if (is_other(player, thread->process)) {
        drop_play_process(player, thread->process);
        player->process = 0;
        return;
    }
    arena_release(&player->start_arena);
    if (!read_start_event(&player->start_arena, &player->event, &start)) {
        end_by_corruption(player);
        return;
    }
    const char *wrong = start_program(player, &start, &process);
    if (!wrong) {
        struct play_process *own = thread->process;
        kill_process(player, own);
        inside_forget(&own->inside);
        own->lender = NULL;
        own->data = 0;
        thread->process = own;
        struct program_file *program = file_of_program(player->arena, &start);
        program->begin = player->events;
        own->program = program;
        thread->recorded = own->recorded;
        thread->awaits = thread->in_call = player->in_call = false;
        thread->number = own->number = player->process = process;
        wrong = make_equal(player, &start);
    }
    if (wrong)
        end_play(player, PLAYED_WRONG, wrong);
}
