/* retrace.c: the trace of a recorded run; see retrace.h. */
#include "retrace/state.h"

#include "trace/writer.h"
#include "util/buffer.h"

#include <stdlib.h>
#include <sys/syscall.h>

static void write_stream(void *context, int stream, const void *bytes, size_t size) {
    (void)context;
    write_whole(stream, bytes, size); /* whoever reads it may have gone */
}

static bool is_return(void *context, uint64_t number) {
    (void)context;
    return number == SYS_rt_sigreturn;
}

/* The process is that of the thread which plays. A number is given again once its process is gone.
 */
static void choose_process(struct retrace *retrace) {
    pid_t recorded, number = player_memory(retrace->player, &recorded);
    uint64_t program = player_program_begin(retrace->player);
    struct retraced_process *process = retrace->processes;
    while (process && !(process->number == number && process->recorded == recorded &&
                        process->program == program))
        process = process->next;
    if (!process) {
        process = ARENA_NEW(retrace->arena, struct retraced_process);
        *process = (struct retraced_process){
            .next = retrace->processes, .number = number, .recorded = recorded, .program = program};
        retrace->processes = process;
    }
    retrace->process = process;
    if (!process->looked || process->changed) {
        bool is_new = !process->looked;
        look_at_modules(retrace);
        if (is_new) {
            find_environment(retrace);
            inherit_thread(retrace);
        }
    }
}

/* Goes on to the next pause. Returns false at the end. */
static bool go_on(struct retrace *retrace) {
    if (!player_select(retrace->player))
        return false;
    choose_process(retrace);
    begin_trace_turn(retrace);
    if (retrace->wrong)
        return false;
    enum play_pause pause = player_go(retrace->player, false);
    if (pause == PAUSE_CALL) {
        leave_handler(retrace);
        pause = player_go(retrace->player, true);
    }
    if (pause == PAUSE_BREAKPOINT)
        serve_stop(retrace);
    else
        retrace->process->changed |= player_has_mapped(retrace->player);
    return pause != PAUSE_ENDED && !retrace->wrong;
}

const char *retrace(struct arena *arena, const struct retrace_options *options,
                    struct playing *playing) {
    struct retrace retrace = {.arena = arena,
                              .sink = options->sink,
                              .start_every = options->start_every,
                              .size = player_shared_end(),
                              .time = 1};
    const struct play_hooks hooks = {.context = &retrace,
                                     .is_armed = true,
                                     .write_output = write_stream,
                                     .is_breakpoint = is_served,
                                     .catches = is_return};
    const char *wrong = player_begin(arena, options->recording, &hooks, &retrace.player);
    if (wrong)
        return wrong;
    retrace.contents = malloc(QUIPU_TRACE_CONTENTS_MAX);
    CHECK(retrace.contents);
    while (go_on(&retrace))
        ;
    for (struct retraced_thread *at = retrace.threads; at; at = at->next)
        hand_over(&retrace, at);
    add_schedule(&retrace);
    *playing = *player_playing(retrace.player);
    player_end(retrace.player);
    free(retrace.contents);
    return retrace.wrong;
}
