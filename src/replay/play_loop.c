/* play_loop.c: a thread that has waited for others in a loop without system calls; see play.h.
 *
 * It comes to the loop by itself, and does not leave it while all others stand. So it executes for
 * a while, and then it is looked whether it is there. */
#include "replay/play.h"

#include "tracee/still_loop.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSE_FIRST = 1, /* milliseconds between two looks */
    PAUSE_LAST = 500,
    NANOSECONDS = 1000000
};

/* The thread executes for some MILLISECONDS. Returns whether it stands then. */
static bool run_for(const struct player *player, long milliseconds) {
    const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * NANOSECONDS};
    pid_t number = player->process;
    int status;
    if (ptrace(PTRACE_SYSEMU, number, NULL, NULL) != 0)
        return false;
    nanosleep(&pause, NULL);
    syscall(SYS_tgkill, player->thread->process->number, number, SIGSTOP);
    return waitpid(number, &status, __WALL) == number && status == STOPPED;
}

void play_loop(struct player *player) {
    struct loop_event loop;
    int status;
    if (!read_loop_event(&player->event, &loop)) {
        end_by_corruption(player);
        return;
    }
    player->in_call = false;
    for (long pause = PAUSE_FIRST;; pause = pause < PAUSE_LAST ? 2 * pause : pause) {
        if (!run_for(player, pause))
            break;
        enum loop_state state = find_still_loop(player->process, &status);
        if (state == LOOP_NONE)
            continue;
        if (state == LOOP_STOPPED ||
            go_in_loop(player->process, loop.address, loop.hash, &status) != LOOP_FOUND)
            break;
        finish_event(player);
        return;
    }
    end_by_difference(player, "does not wait in the loop in which it has waited");
}
