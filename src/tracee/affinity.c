/* affinity.c: binds the program and quipu to one processor; see affinity.h.
 *
 * Not perfect: another process that looks at the program sees the changed affinity. */
#include "tracee/affinity.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns our present processor if it is in SET, otherwise the first one in SET, or -1 if SET is
 * empty. */
static int choose_processor(const cpu_set_t *set) {
    int here = sched_getcpu();
    if (here >= 0 && here < CPU_SETSIZE && CPU_ISSET(here, set))
        return here;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, set))
            return i;
    return -1;
}

void bind_affinity(struct affinity *affinity, pid_t process) {
    cpu_set_t both, one;
    if (affinity->given_up)
        return;
    affinity->given_up = true; /* a failure costs only time */
    if (!affinity->bound && sched_getaffinity(0, sizeof affinity->ours, &affinity->ours) != 0)
        return; /* the machine has more processors than a set can hold */
    if (sched_getaffinity(process, sizeof affinity->its, &affinity->its) != 0)
        return;
    CPU_AND(&both, &affinity->ours, &affinity->its);
    int processor = choose_processor(&both);
    if (processor < 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    affinity->bound = true;
    affinity->given_up = sched_setaffinity(process, sizeof one, &one) != 0 ||
                         sched_setaffinity(0, sizeof one, &one) != 0;
    if (affinity->given_up)
        restore_affinity(affinity, process);
}

void restore_affinity(const struct affinity *affinity, pid_t process) {
    if (affinity->bound)
        sched_setaffinity(process, sizeof affinity->its, &affinity->its);
}

void restore_our_affinity(const struct affinity *affinity) {
    if (affinity->bound)
        sched_setaffinity(0, sizeof affinity->ours, &affinity->ours);
}

/* ---- system calls ---- */

/* Whether the call reports, changes or passes on the caller's affinity. */
static bool is_about_affinity(uint64_t number) {
    static const uint16_t calls[] = {SYS_sched_getaffinity,
                                     SYS_sched_setaffinity,
                                     SYS_clone,
                                     SYS_clone3,
                                     SYS_fork,
                                     SYS_vfork,
                                     SYS_execve,
                                     SYS_execveat};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == number)
            return true;
    return false;
}

static bool opens_file(uint64_t number) {
    return number == SYS_open || number == SYS_openat || number == SYS_openat2;
}

/* Whether FILE of PROCESS is a /proc/.../status file, which shows the affinity. */
static bool is_status(pid_t process, int64_t file) {
    static const char begin[] = "/proc/", end[] = "/status";
    char link[64], path[128];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)process, (int)file);
    ssize_t size = readlink(link, path, sizeof path);
    return size >= (ssize_t)(sizeof begin + sizeof end) &&
           memcmp(path, begin, sizeof begin - 1) == 0 &&
           memcmp(path + size - (sizeof end - 1), end, sizeof end - 1) == 0;
}

void bind_before_call(struct affinity *affinity, pid_t process, uint64_t number) {
    if (!affinity->given_up && is_about_affinity(number))
        restore_affinity(affinity, process);
}

void bind_behind_call(struct affinity *affinity, pid_t process, uint64_t number, int64_t result) {
    if (affinity->given_up)
        return;
    if (is_about_affinity(number))
        bind_affinity(affinity, process);
    if (opens_file(number) && result >= 0 && is_status(process, result)) {
        affinity->given_up = true;
        restore_affinity(affinity, process);
    }
}
