/* record_keep.c: a recorder writes what it has up to now to another file, and goes on; see
 * record.h.
 *
 * Another process asks for that by a signal, whose value is a descriptor of its own: of the file.
 * The recorder opens that, and answers with the same signal, whose value is 0 or errno. So nothing
 * but that process, of the same user, names a file to it.
 *
 * A recorder that is being asked by two processes at once answers the later one only. */
#include "replay/record.h"
#include "replay/recorder.h"

#include "util/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ANSWER_SECONDS = 60
};

/* ---- the recorder ---- */

static volatile sig_atomic_t asked, asked_by, asked_file;

static void take_request(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    if (info->si_code != SI_QUEUE)
        return;
    asked_by = info->si_pid;
    asked_file = info->si_value.sival_int;
    asked = 1;
}

void begin_keeping(struct sigaction *old) {
    const struct sigaction action = {.sa_sigaction = take_request, .sa_flags = SA_SIGINFO};
    sigaction(KEEP_SIGNAL, &action, old);
}

void end_keeping(const struct sigaction *old) {
    sigaction(KEEP_SIGNAL, old, NULL);
}

/* Writes the events that end the recording of all processes. */
static void add_ends(const struct recorder *recorder, struct buffer *events) {
    static const char why[] = "it was kept up to here by 'quipu record --keep'";
    for (const struct recorded_process *process = recorder->processes; process;
         process = process->next) {
        const struct recorded_thread *thread = recorder->threads;
        while (thread && (thread->process != process || thread->state >= RECORD_LEAVES))
            thread = thread->next;
        if (thread)
            put_event(events, QUIPU_EVENT_STOPPED, thread->id, why, sizeof why);
    }
}

/* Returns 0, or errno. */
static int keep(const struct recorder *recorder, pid_t process, int descriptor) {
    struct buffer ends = {0};
    struct stat file, own;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, descriptor);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    int cause = 0;
    if (fstat(fd, &file) != 0 || fstat(recorder->writer.fd, &own) != 0)
        cause = errno;
    else if (!S_ISREG(file.st_mode))
        cause = EINVAL;
    else if (file.st_dev == own.st_dev && file.st_ino == own.st_ino)
        cause = EEXIST;
    else if (recorder->writer.failure)
        cause = recorder->writer.failure;
    else if (ftruncate(fd, 0) != 0)
        cause = errno;
    add_ends(recorder, &ends);
    if (!cause)
        cause = recording_copy(&recorder->writer, fd, &ends);
    buffer_release(&ends);
    close(fd);
    return cause;
}

void look_at_requests(struct recorder *recorder) {
    if (!asked)
        return;
    asked = 0;
    const pid_t process = asked_by;
    const union sigval answer = {.sival_int = keep(recorder, process, asked_file)};
    sigqueue(process, KEEP_SIGNAL, answer);
}

/* ---- the process that asks ---- */

/* Whether PROCESS is this program, and takes requests. */
static bool is_recorder(pid_t process) {
    struct stat own, its;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    long caught = read_status(process, "SigCgt:", 16);
    return caught != -1 && (uint64_t)caught >> (KEEP_SIGNAL - 1) & 1 && stat(path, &its) == 0 &&
           stat("/proc/self/exe", &own) == 0 && own.st_dev == its.st_dev &&
           own.st_ino == its.st_ino;
}

static const char *describe_cause(int cause) {
    return cause == EEXIST   ? "it is the recording itself; name another file by --output"
           : cause == EINVAL ? "it is not a file"
                             : strerror(cause);
}

const char *keep_recording(struct arena *arena, pid_t process, const char *path) {
    long tracer = read_status(process, "TracerPid:", 10);
    pid_t recorder = is_recorder(process) ? process : (pid_t)tracer;
    const struct timespec most = {ANSWER_SECONDS, 0};
    siginfo_t info = {0};
    sigset_t answer, mask;
    if (recorder <= 0 || !is_recorder(recorder))
        return arena_print(arena,
                           "process %d is not being recorded by this quipu; start it by 'quipu "
                           "record --last=60s -- PROGRAM'",
                           (int)process);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0)
        return arena_print(arena, "cannot write '%s': %s", path, strerror(errno));
    sigemptyset(&answer);
    sigaddset(&answer, KEEP_SIGNAL);
    sigprocmask(SIG_BLOCK, &answer, &mask);
    const char *wrong = NULL;
    if (sigqueue(recorder, KEEP_SIGNAL, (union sigval){.sival_int = fd}) != 0)
        wrong = arena_print(arena, "cannot ask the recorder, process %d: %s", (int)recorder,
                            strerror(errno));
    while (!wrong && info.si_pid != recorder)
        if (sigtimedwait(&answer, &info, &most) < 0 && errno != EINTR)
            wrong = arena_print(arena, "the recorder, process %d, does not answer", (int)recorder);
    if (!wrong && info.si_value.sival_int)
        wrong = arena_print(arena, "cannot write '%s': %s", path,
                            describe_cause(info.si_value.sival_int));
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(fd);
    return wrong;
}
