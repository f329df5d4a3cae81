/* refusal.c: why the system denies quipu access to another process; see refusal.h.
 *
 * The system does not give the reason. So the possible reasons are tested, the most certain one
 * first: ptrace(2), "Ptrace access mode checking" and "/proc/sys/kernel/yama/ptrace_scope".
 *
 * Not perfect: the rules of a seccomp filter or a security module cannot be read. */
#include "util/refusal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CAPABILITY_PTRACE = 19, /* CAP_SYS_PTRACE; not all systems have sys/capability.h */
    SECCOMP_FILTERS = 2,
    HEX = 16,
    DECIMAL = 10
};

/* Values of Yama's setting. */
enum {
    SCOPE_CHILDREN = 1,
    SCOPE_PRIVILEGED,
    SCOPE_NONE
};

static const char container[] =
    "in a container, run that with '--cap-add=SYS_PTRACE' and a seccomp profile that allows it";

const char no_proc[] = "'/proc' is not mounted, and other processes cannot be looked at without "
                       "it; mount it: 'mount -t proc proc /proc'";

bool has_proc(void) {
    return access("/proc/self/status", F_OK) == 0;
}

long read_status(pid_t process, const char *key, int base) {
    char path[64] = "/proc/self/status", line[256];
    long value = -1;
    if (process)
        snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "re");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = (long)strtoull(line + strlen(key), NULL, base);
    if (file)
        fclose(file);
    return value;
}

static bool is_privileged(void) {
    long capabilities = read_status(0, "CapEff:", HEX);
    return capabilities > 0 && (uint64_t)capabilities >> CAPABILITY_PTRACE & 1;
}

/* Returns Yama's setting, or 0 if there is none. */
static int read_scope(void) {
    int scope = 0;
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &scope) != 1) /* NOLINT(cert-err34-c): the kernel writes a digit */
        scope = 0;
    fclose(file);
    return scope;
}

/* Returns what prevents access to PROCESS: another tracer, or another user. NULL: neither. */
static const char *find_owner(struct arena *arena, pid_t process) {
    char path[64];
    struct stat status;
    long tracer = read_status(process, "TracerPid:", DECIMAL);
    if (tracer > 0)
        return arena_print(arena, "process %ld traces it; end that first", tracer);
    snprintf(path, sizeof path, "/proc/%d", (int)process);
    if (stat(path, &status) == 0 && status.st_uid != geteuid())
        return arena_print(arena, "it is of user %u; be that user, or root", status.st_uid);
    return NULL;
}

static const char *find_yama(struct arena *arena, pid_t process) {
    int scope = read_scope();
    if (scope >= SCOPE_NONE)
        return "kernel.yama.ptrace_scope is 3, which forbids it to all until the system is booted "
               "with another value";
    if (scope == SCOPE_PRIVILEGED || (scope == SCOPE_CHILDREN && process))
        return arena_print(arena,
                           "kernel.yama.ptrace_scope is %d; be root, or set it: 'sysctl "
                           "kernel.yama.ptrace_scope=%d'",
                           scope, process ? 0 : 1);
    return NULL;
}

static const char *find_reason(struct arena *arena, pid_t process) {
    const char *reason = NULL;
    bool privileged = is_privileged();
    if (process)
        reason = find_owner(arena, process);
    if (!reason && (!privileged || read_scope() >= SCOPE_NONE))
        reason = find_yama(arena, process);
    if (!reason && read_status(0, "Seccomp:", DECIMAL) == SECCOMP_FILTERS)
        reason = arena_print(arena, "a seccomp filter is on this process; %s", container);
    if (!reason && process && !privileged)
        reason = arena_print(arena,
                             "the process may have more rights than you, or have made itself "
                             "undumpable; be root; %s",
                             container);
    return reason ? reason : container;
}

const char *refusal(struct arena *arena, const char *call, pid_t process, int cause) {
    if (cause != EPERM && cause != EACCES && cause != ENOSYS)
        return arena_print(arena, "%s: %s", call, strerror(cause));
    return arena_print(arena, "%s is refused (%s): %s", call, strerror(cause),
                       find_reason(arena, process));
}

const char *deadly_refusal(struct arena *arena, const char *call) {
    return arena_print(arena, "a seccomp filter ends who calls %s; %s", call, container);
}
