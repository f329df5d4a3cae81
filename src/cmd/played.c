/* played.c: how a play of a recording has ended; see played.h. */
#include "cmd/played.h"

#include "cmd/child.h"
#include "util/diag.h"

#include <signal.h>
#include <stddef.h>

int end_played(const char *path, const struct playing *playing) {
    unsigned long long calls = playing->calls;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    if (playing->left)
        warn("a process was recorded no further: %s", playing->left);
    if (playing->end == PLAYED_END)
        return child_end(playing->status, &mask);
    if (playing->end == PLAYED_CUT)
        error("'%s' was cut behind %llu system calls; the run is repeated up to there", path,
              calls);
    else if (playing->end == PLAYED_STOPPED)
        error("'%s' ends behind %llu system calls, while the program went on: %s", path, calls,
              playing->message);
    else if (*playing->message)
        error("%s", playing->message);
    return 1;
}
