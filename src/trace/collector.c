/* collector.c: takes records out of buffers; see collector.h.
 *
 * A buffer is a file that its process keeps mapped. A full one is stored and is then empty again.
 * If no process has the file open or mapped any more, the kernel grants a write lease: then what is
 * in it is stored, and the file is removed. So a process of another namespace, whose number means
 * nothing here, is safe, and what was recorded survives whatever ends a process.
 *
 * Invariants
 *   - Each number that was given to a buffer is in `buffers` until its file is removed.
 *   - The control file is locked as long as the collector lives.
 *   - A buffer in state QUIPU_TRACE_STORING is lent to the writer, whose threads give it back.
 * Not perfect: if this process is killed by SIGKILL, what is in buffers is lost, and their
 * directory stays until the next recording. */
#include "trace/collector.h"

#include "format/trace.h"
#include "trace/schedule_recorder.h"
#include "trace/sink.h"
#include "trace/writer.h"
#include "util/arena.h"
#include "util/diag.h"
#include "util/vector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PAUSE = 50 * 1000 * 1000, /* nanoseconds of a wait */
    OLD_SECONDS = 60          /* no process makes a directory as slowly */
};

static const char shared_memory[] = "/dev/shm", prefix[] = "quipu-trace.";

/* A buffer that may have records. */
struct buffer_file {
    const struct collector *collector;
    uint32_t number;
    int fd;                        /* -1: the process has not made it yet */
    bool counts;                   /* among the control file's buffers */
    struct quipu_trace_chunk *map; /* NULL: it is not mapped */
};

struct collector {
    struct arena arena;
    const char *directory;
    int directory_fd, control_fd;
    struct quipu_trace_control *control;
    uint32_t seen; /* numbers of buffers that are known */
    VECTOR(struct buffer_file *) buffers;
    struct trace_sink *sink;
    bool windowed;                      /* it leaves something out */
    struct schedule_recorder *schedule; /* NULL: none is wanted */
    bool lends;                         /* take_buffer has found a buffer that is lent */
};

/* ---- the directory ---- */

/* Removes the files of the directory, and the directory PATH itself. */
static void remove_directory(const char *path, int directory) {
    int fd = dup(directory);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list)
        return;
    rewinddir(list);
    for (const struct dirent *entry; (entry = readdir(list));)
        if (entry->d_name[0] != '.')
            unlinkat(directory, entry->d_name, 0);
    closedir(list);
    rmdir(path);
}

/* Whether nothing has come into the directory or gone for some time. */
static bool is_old(int directory) {
    struct stat status;
    return fstat(directory, &status) == 0 && time(NULL) - status.st_mtime > OLD_SECONDS;
}

/* Removes the directory PATH of a recording whose collector was killed: nobody has its lock. One
 * without a control file is just being made; or a process made a buffer while it was removed. */
static void remove_abandoned(const char *path) {
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return;
    int fd = openat(directory, QUIPU_TRACE_CONTROL, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 ? errno == ENOENT && is_old(directory) : flock(fd, LOCK_EX | LOCK_NB) == 0)
        remove_directory(path, directory);
    if (fd >= 0)
        close(fd);
    close(directory);
}

static void remove_all_abandoned(struct arena *arena) {
    DIR *list = opendir(shared_memory);
    if (!list)
        return;
    for (const struct dirent *entry; (entry = readdir(list));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            remove_abandoned(arena_print(arena, "%s/%s", shared_memory, entry->d_name));
    closedir(list);
}

/* Makes the directory in memory; or beside the trace, if there is no room for MEMORY bytes. */
static void make_directory(struct collector *collector, const struct collector_options *options) {
    struct statvfs status;
    bool room = statvfs(shared_memory, &status) == 0 &&
                (uint64_t)status.f_bavail * status.f_frsize > options->memory;
    char *path = arena_print(&collector->arena, "%s/%sXXXXXX", shared_memory, prefix);
    if (!room || !mkdtemp(path)) {
        char *output = realpath(options->output, NULL);
        if (output)
            path = arena_print(&collector->arena, "%.*s/%sXXXXXX",
                               (int)(strrchr(output, '/') - output), output, prefix);
        if (!output || !mkdtemp(path))
            die("cannot make a directory beside '%s': %s", options->output, strerror(errno));
        free(output);
    }
    collector->directory = path;
    collector->directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Makes the control file under another name, so that its lock is there before the file is. */
static void make_control(struct collector *collector, const struct collector_options *options) {
    static const char name[] = "new";
    int fd = openat(collector->directory_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, PAGE) != 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
        die("cannot make a file in '%s': %s", collector->directory, strerror(errno));
    struct quipu_trace_control *control =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED)
        die("cannot map a file of '%s': %s", collector->directory, strerror(errno));
    memcpy(control->magic, QUIPU_TRACE_MAGIC, sizeof control->magic);
    control->version = QUIPU_TRACE_VERSION;
    uint64_t limit = options->memory / QUIPU_TRACE_BUFFER;
    control->limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
    control->start_every = window_is_set(&options->window) ? 1 : QUIPU_TRACE_START_EVERY;
    control->schedule = options->schedule;
    control->drops = options->drop ? QUIPU_TRACE_DROPS : QUIPU_TRACE_WAITS;
    if (renameat(collector->directory_fd, name, collector->directory_fd, QUIPU_TRACE_CONTROL) != 0)
        die("cannot make a file in '%s': %s", collector->directory, strerror(errno));
    collector->control = control;
    collector->control_fd = fd; /* has the lock */
}

struct collector *collector_begin(const struct collector_options *options) {
    struct arena arena = {0};
    struct collector *collector = ARENA_NEW(&arena, struct collector);
    struct rlimit files;
    collector->arena = arena;
    if (options->schedule)
        collector->schedule = schedule_recorder_new(&collector->arena, options->processor);
    collector->sink = sink_begin(&collector->arena, options->output, options->level, options->jobs,
                                 &options->window);
    collector->windowed = window_is_set(&options->window);
    remove_all_abandoned(&collector->arena);
    make_directory(collector, options);
    if (collector->schedule)
        schedule_recorder_begin(collector->schedule, sink_writer(collector->sink),
                                collector->directory_fd);
    make_control(collector, options);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) { /* a descriptor a buffer */
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return collector;
}

const char *collector_directory(const struct collector *collector) {
    return collector->directory;
}

void collector_enter_processor(const struct collector *collector) {
    if (collector->schedule)
        schedule_enter_processor(collector->schedule);
}

void collector_leave_processor(const struct collector *collector) {
    if (collector->schedule)
        schedule_leave_processor(collector->schedule);
}

/* ---- buffers ---- */

static bool open_buffer(const struct collector *collector, struct buffer_file *buffer) {
    char name[16];
    struct stat status;
    snprintf(name, sizeof name, "%u", buffer->number);
    if (buffer->fd < 0)
        buffer->fd = openat(collector->directory_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (buffer->fd < 0 || fstat(buffer->fd, &status) != 0)
        return false;
    buffer->counts = status.st_size == QUIPU_TRACE_BUFFER;
    return true;
}

/* Whether no process has the buffer any more. PID made it. */
static bool is_left(const struct buffer_file *buffer, uint32_t pid) {
    if (fcntl(buffer->fd, F_SETLEASE, F_WRLCK) == 0) {
        fcntl(buffer->fd, F_SETLEASE, F_UNLCK);
        return true;
    }
    /* There is no lease for files of other users, or on some file systems. */
    return errno != EAGAIN && pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static void begin_to_store(struct quipu_trace_chunk *chunk) {
    chunk->state = 0;
    if (chunk->counters > QUIPU_TRACE_COUNTERS_MOST)
        chunk->counters = 0;
}

static void look_for_failure(struct collector *collector) {
    if (writer_failed(sink_writer(collector->sink)))
        __atomic_store_n(&collector->control->stopped, 1, __ATOMIC_RELEASE);
}

/* Stores what is in the buffer, which no process needs any more. */
static void store(struct collector *collector, const struct buffer_file *buffer,
                  struct quipu_trace_chunk *chunk) {
    begin_to_store(chunk);
    uint8_t *contents = writer_contents(sink_writer(collector->sink));
    ssize_t read = pread(buffer->fd, contents, QUIPU_TRACE_CONTENTS_MAX,
                         PAGE - quipu_trace_counters_size(chunk));
    sink_add(collector->sink, chunk, contents, read > 0 ? (size_t)read : 0);
    look_for_failure(collector);
}

/* Tells waiting threads that a buffer is empty. */
static void tell_empty(const struct collector *collector) {
    struct quipu_trace_control *control = collector->control;
    __atomic_add_fetch(&control->emptied, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &control->emptied, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A mapped buffer is stored: its process may fill it again. */
static void give_back(void *of) {
    const struct buffer_file *buffer = of;
    const struct collector *collector = buffer->collector; /* the buffer may soon be removed */
    __atomic_store_n(&buffer->map->state, QUIPU_TRACE_EMPTY, __ATOMIC_RELEASE);
    tell_empty(collector);
}

/* Maps a buffer of a thread. Returns false if it cannot be. */
static bool map_buffer(struct buffer_file *buffer) {
    if (!buffer->map && buffer->counts) {
        void *map = mmap(NULL, QUIPU_TRACE_BUFFER, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, buffer->fd, 0);
        buffer->map = map == MAP_FAILED ? NULL : map;
    }
    return buffer->map;
}

/* Stores what is in the full buffer of a thread, where it is. */
static void store_in_place(struct collector *collector, struct buffer_file *buffer,
                           struct quipu_trace_chunk *chunk) {
    begin_to_store(chunk);
    size_t counters = quipu_trace_counters_size(chunk);
    const uint8_t *contents = (const uint8_t *)buffer->map + PAGE - counters;
    buffer->map->state = QUIPU_TRACE_STORING;
    sink_add_lent(collector->sink, chunk, contents, QUIPU_TRACE_RECORDS_MAX + counters, give_back,
                  buffer);
    look_for_failure(collector);
}

bool collector_failed(const struct collector *collector) {
    return writer_failed(sink_writer(collector->sink));
}

bool collector_has_records(const struct collector *collector) {
    return sink_has_records(collector->sink);
}

static void remove_buffer(struct collector *collector, size_t index) {
    struct buffer_file *buffer = collector->buffers.data[index];
    char name[16];
    snprintf(name, sizeof name, "%u", buffer->number);
    unlinkat(collector->directory_fd, name, 0);
    close(buffer->fd);
    if (buffer->map)
        munmap(buffer->map, QUIPU_TRACE_BUFFER);
    if (buffer->counts)
        __atomic_sub_fetch(&collector->control->buffers, 1, __ATOMIC_RELAXED);
    collector->buffers.data[index] = collector->buffers.data[--collector->buffers.count];
    free(buffer);
}

/* Reads the description of what is in the buffer. Returns false if there is no buffer yet. */
static bool read_description(const struct collector *collector, struct buffer_file *buffer,
                             struct quipu_trace_chunk *chunk) {
    if (!buffer->map)
        return open_buffer(collector, buffer) &&
               pread(buffer->fd, chunk, sizeof *chunk, 0) == sizeof *chunk;
    uint32_t state = __atomic_load_n(&buffer->map->state, __ATOMIC_ACQUIRE);
    if (state != QUIPU_TRACE_STORING) /* otherwise a thread of this process may change it */
        *chunk = *buffer->map;
    chunk->state = state;
    return true;
}

static void find_new_buffers(struct collector *collector) {
    for (uint32_t last = __atomic_load_n(&collector->control->numbers, __ATOMIC_ACQUIRE);
         collector->seen != last;) {
        struct buffer_file *buffer = calloc(1, sizeof *buffer);
        if (!buffer)
            die("no memory for the buffers of '%s'", collector->directory);
        *buffer =
            (struct buffer_file){.collector = collector, .number = ++collector->seen, .fd = -1};
        vector_push(&collector->arena, &collector->buffers, buffer);
    }
}

/* Takes the descriptions of modules that are there. Returns whether there were any. */
static bool take_descriptions(struct collector *collector) {
    bool taken = false;
    find_new_buffers(collector);
    for (size_t i = 0; i < collector->buffers.count;) {
        struct buffer_file *buffer = collector->buffers.data[i];
        struct quipu_trace_chunk chunk = {0};
        if (!buffer->map && read_description(collector, buffer, &chunk) &&
            chunk.state == QUIPU_TRACE_FILLED && chunk.kind != QUIPU_TRACE_RECORDS) {
            store(collector, buffer, &chunk);
            remove_buffer(collector, i);
            taken = true;
        } else {
            i++;
        }
    }
    return taken;
}

/* Looks at one buffer. Returns whether something was taken. A window judges records by the modules
 * of their process, which has described them before it had filled the buffer: so these come first,
 * and the look begins anew. */
static bool take_buffer(struct collector *collector, size_t *index, bool often) {
    static const uint32_t empty = QUIPU_TRACE_EMPTY;
    struct buffer_file *buffer = collector->buffers.data[*index];
    struct quipu_trace_chunk chunk = {0};
    if (!read_description(collector, buffer, &chunk) || chunk.state == QUIPU_TRACE_STORING) {
        collector->lends |= chunk.state == QUIPU_TRACE_STORING;
        ++*index;
        return false;
    }
    bool filled = chunk.state == QUIPU_TRACE_FILLED;
    bool once = filled && chunk.kind != QUIPU_TRACE_RECORDS; /* its process has left it */
    bool left = once || (!often && is_left(buffer, chunk.pid));
    if (collector->windowed && !once && (filled || left) && take_descriptions(collector)) {
        *index = 0;
        return true;
    }
    if (left) {
        /* What it wrote after the first look is there now. */
        if (read_description(collector, buffer, &chunk) && chunk.state >= QUIPU_TRACE_FILLING)
            store(collector, buffer, &chunk);
        remove_buffer(collector, *index);
        return true;
    }
    ++*index;
    if (!filled)
        return false;
    if (map_buffer(buffer)) {
        store_in_place(collector, buffer, &chunk);
        return true;
    }
    store(collector, buffer, &chunk);
    if (pwrite(buffer->fd, &empty, sizeof empty, offsetof(struct quipu_trace_chunk, state)) !=
        sizeof empty)
        return false;
    tell_empty(collector);
    return true;
}

bool collector_take(struct collector *collector, bool often) {
    struct quipu_trace_control *control = collector->control;
    bool taken = false;
    collector->lends = false;
    if (collector->schedule)
        schedule_recorder_take(collector->schedule, control->tickets);
    find_new_buffers(collector);
    for (size_t i = 0; i < collector->buffers.count;)
        taken |= take_buffer(collector, &i, often);
    if (!taken && !often && collector->lends) { /* the next look finds whether they are left */
        writer_finish(sink_writer(collector->sink));
        taken = true;
    }
    if (taken)
        tell_empty(collector);
    return taken;
}

uint32_t collector_moment(const struct collector *collector) {
    return __atomic_load_n(&collector->control->filled, __ATOMIC_ACQUIRE);
}

void collector_wait(const struct collector *collector, uint32_t moment) {
    const struct timespec pause = {.tv_nsec = PAUSE};
    syscall(SYS_futex, &collector->control->filled, FUTEX_WAIT, moment, &pause, NULL, 0);
}

void collector_wake(const struct collector *collector) {
    __atomic_add_fetch(&collector->control->filled, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &collector->control->filled, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool collector_has_processes(const struct collector *collector) {
    for (size_t i = 0; i < collector->buffers.count; i++)
        if (collector->buffers.data[i]->fd >= 0)
            return true;
    if (fcntl(collector->control_fd, F_SETLEASE, F_WRLCK) != 0)
        return errno == EAGAIN;
    fcntl(collector->control_fd, F_SETLEASE, F_UNLCK);
    return false;
}

const char *collector_end(struct collector *collector) {
    struct quipu_trace_control *control = collector->control;
    __atomic_store_n(&control->stopped, 1, __ATOMIC_SEQ_CST);
    unsigned flags = 0;
    while (collector_take(collector, false))
        ;
    writer_finish(sink_writer(collector->sink));
    for (size_t i = 0; i < collector->buffers.count; i++) { /* of processes that live on */
        struct quipu_trace_chunk chunk = {0};
        struct buffer_file *buffer = collector->buffers.data[i];
        if (buffer->fd < 0 || pread(buffer->fd, &chunk, sizeof chunk, 0) != sizeof chunk)
            continue;
        flags |= QUIPU_TRACE_STOPPED;
        if (chunk.state >= QUIPU_TRACE_FILLING)
            store(collector, buffer, &chunk);
    }
    if (__atomic_load_n(&control->lost, __ATOMIC_ACQUIRE) && !flags)
        flags = QUIPU_TRACE_LOST;
    if (__atomic_load_n(&control->drops, __ATOMIC_ACQUIRE) == QUIPU_TRACE_HAS_DROPPED)
        flags |= QUIPU_TRACE_DROPPED;
    if (__atomic_load_n(&control->other, __ATOMIC_ACQUIRE))
        flags |= QUIPU_TRACE_OTHER;
    if (collector->schedule)
        schedule_recorder_end(collector->schedule, control->tickets);
    const char *cause = writer_end(sink_writer(collector->sink), flags);
    remove_directory(collector->directory, collector->directory_fd);
    return cause;
}
