/* parent.c: a child that does not outlive its parent; see parent.h. */
#include "util/parent.h"

#include <sys/prctl.h>
#include <unistd.h>

void end_with_parent(pid_t parent, int signal) {
    prctl(PR_SET_PDEATHSIG, signal);
    if (getppid() != parent)
        _exit(1);
}
