/* recorded_run.c: a recording where a command takes a program; see recorded_run.h. */
#include "cmd/recorded_run.h"

#include "cmd/recorded_process.h"
#include "debug/server.h"
#include "util/diag.h"
#include "x86/kernel.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

bool is_recorded_run(char **argv) {
    if (access(argv[0], R_OK) != 0 || !recording_is(argv[0]))
        return false;
    if (argv[1])
        die("'%s': '%s' is a recording, which has its arguments in it", argv[1], argv[0]);
    return true;
}

struct timeline *begin_recorded_run(struct arena *arena, const char *path, const char *process) {
    static struct timeline timeline;
    signal(SIGPIPE, SIG_IGN);
    const char *wrong = timeline_begin(&timeline, arena, path, process, 0);
    if (wrong && *wrong)
        die("%s", wrong);
    if (wrong)
        _exit(1);
    return &timeline;
}

void end_recorded_run(struct timeline *timeline) {
    forget_programs(timeline);
    timeline_end(timeline);
}

struct timeline *begin_with_debug_information(struct arena *arena, const char *path,
                                              const char *process) {
    struct timeline *timeline =
        begin_recorded_run(arena, path, process ? process : choose_process(arena, path));
    struct halt halt = {.kind = HALT_EVENT};
    begin_motion(timeline);
    const struct binary *binary = program_of(timeline)->binary;
    while ((!binary || !binary->dwarf) && halt.kind != HALT_END) {
        halt = advance(timeline, false);
        binary = program_of(timeline)->binary;
    }
    end_motion(timeline);
    if (!binary)
        die("'%s': the recorded program cannot be read", timeline->path);
    return timeline;
}

bool go_to_first_pass(struct timeline *timeline, const address_list *places) {
    uint64_t bias = program_of(timeline)->bias;
    struct halt halt = {.kind = HALT_EVENT};
    for (size_t i = 0; i < places->count; i++)
        points_add(&timeline->points, POINT_SOFTWARE, places->data[i] + bias, 1);
    begin_motion(timeline);
    while (halt.kind != HALT_POINT && halt.kind != HALT_END) {
        halt = advance(timeline, false);
        if (halt.kind == HALT_EVENT || halt.kind == HALT_TIMER)
            keep_on_the_way(timeline);
    }
    end_motion(timeline);
    points_clear(&timeline->points);
    return halt.kind == HALT_POINT;
}

int recorded_status(struct timeline *timeline) {
    enum {
        SIGNALLED = 128
    };
    const struct playing *playing = player_playing(timeline->player);
    if (playing->end != PLAYED_END) {
        struct arena arena = {0};
        error("%s: %s", timeline->path, describe_end(&arena, timeline));
        arena_release(&arena);
        return 1;
    }
    return WIFSIGNALED(playing->status) ? SIGNALLED + WTERMSIG(playing->status)
                                        : WEXITSTATUS(playing->status);
}
