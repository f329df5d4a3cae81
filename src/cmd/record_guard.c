/* record_guard.c: see record_guard.h.
 *
 * The kernel lets go of the processes of a tracer that has ended, where they are. What the recorder
 * has changed in them is put right: their processors, the additions of ticks, and the instructions
 * that read the time stamp counter, which are those of the mapped file again. The guard adopts what
 * the recorder leaves (PR_SET_CHILD_SUBREAPER), so it finds all of them, and gets the status of the
 * first one.
 *
 * Not perfect: what was in the recorder's hands at that moment is lost: a signal that it was about
 * to deliver or has held back. A thread that comes to what is changed before that is done ends its
 * process. */
#include "cmd/record_guard.h"

#include "cmd/child.h"
#include "replay/ticks.h"
#include "tracee/tracee.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "x86/counter_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a process ---- */

/* Puts the instructions that read the counter back: SIZE bytes at ADDRESS are mapped from the bytes
 * FILE. */
static void restore_counter_reads(pid_t process, uint64_t address, const uint8_t *file,
                                  size_t size) {
    uint8_t *code = malloc(size);
    if (code && read_memory(process, address, code, size))
        for (size_t at = 0; (at = find_counter_read(file, size, at)) < size; at++) {
            uint8_t replaced[COUNTER_READ_MAX] = {0};
            unsigned length = counter_read_size(file + at, size - at);
            memcpy(replaced, file + at, length);
            if (!length)
                continue;
            replace_counter_read(replaced);
            if (memcmp(code + at, replaced, length) == 0)
                write_memory(process, address + at, file + at, length);
        }
    free(code);
}

/* The same for a line of /proc/PID/maps, if that is code of a file. */
static void restore_mapping(pid_t process, char *line) {
    char *at, *path = strchr(line, '/');
    uint64_t start = strtoull(line, &at, 16), end = strtoull(at + 1, &at, 16);
    if (!path || strlen(at) < 6 || at[3] != 'x' || at[4] != 'p')
        return;
    uint64_t offset = strtoull(at + 5, NULL, 16);
    path[strcspn(path, "\n")] = '\0';
    struct buffer file = {0};
    if (buffer_read_file(&file, path) && offset < file.count) {
        uint64_t size = file.count - offset < end - start ? file.count - offset : end - start;
        restore_counter_reads(process, start, (const uint8_t *)file.data + offset, size);
    }
    buffer_release(&file);
}

static void restore_code(pid_t process) {
    char name[64], *line = NULL;
    size_t room = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)process);
    FILE *file = fopen(name, "re");
    while (file && getline(&line, &room, file) > 0)
        restore_mapping(process, line);
    free(line);
    if (file)
        fclose(file);
}

/* The additions of ticks, which may be replaced by jumps. */
static void restore_ticks(pid_t process) {
    struct process_ticks ticks = {.armed = true};
    ticks_disarm(&ticks, process);
    ticks_forget(&ticks);
}

/* Puts PROCESS right, and what it has made. */
static void put_right(pid_t process);

/* The same for what its thread NUMBER has made. The thread may use the processors that we may. */
static void put_thread_right(pid_t process, pid_t number) {
    cpu_set_t ours;
    char name[64];
    int child;
    if (sched_getaffinity(0, sizeof ours, &ours) == 0)
        sched_setaffinity(number, sizeof ours, &ours);
    snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)process, (int)number);
    FILE *file = fopen(name, "re");
    while (file && fscanf(file, "%d", &child) == 1) /* NOLINT(cert-err34-c): the kernel's digits */
        put_right((pid_t)child);
    if (file)
        fclose(file);
}

static void put_right(pid_t process) {
    char name[64];
    const struct dirent *entry;
    if (process != getpid()) {
        restore_ticks(process);
        restore_code(process);
    }
    snprintf(name, sizeof name, "/proc/%d/task", (int)process);
    DIR *threads = opendir(name);
    while (threads && (entry = readdir(threads)))
        if (*entry->d_name != '.')
            put_thread_right(process, (pid_t)strtol(entry->d_name, NULL, 10));
    if (threads)
        closedir(threads);
}

/* ---- the guard ---- */

/* Waits for PROCESS. Returns its status, of wait. */
static int await(pid_t process) {
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, 0)) != process)
        if (ended < 0 && errno != EINTR)
            return 0;
    return status;
}

void guard_recorder(struct record_note **note, const sigset_t *mask) {
    struct record_note *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        die("cannot make shared memory: %s", strerror(errno));
    *note = shared;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    fflush(NULL);
    pid_t recorder = fork();
    if (recorder < 0)
        die("cannot make a process: %s", strerror(errno));
    if (recorder == 0)
        return;
    signal(SIGINT, SIG_IGN); /* those of the terminal are the program's */
    signal(SIGQUIT, SIG_IGN);
    int status = await(recorder);
    if (shared->has_ended || !shared->first)
        exit(child_end(status, mask));
    put_right(getpid());
    if (WIFSIGNALED(status))
        warn("the recorder has ended by signal %d; the program goes on", WTERMSIG(status));
    else
        warn("the recorder has ended by an error; the program goes on");
    exit(child_end(await(shared->first), mask));
}
