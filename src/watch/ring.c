/* ring.c: the watch file; see ring.h.
 *
 * If the program writes to the mapping by mistake, records may contain anything. So sizes are
 * checked, and at most hits are lost. */
#include "watch/ring.h"

#include "format/data_file.h"
#include "util/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    ALLOWED_OFFSET = QUIPU_PAGE,
    REQUESTS_OFFSET = ALLOWED_OFFSET + ALLOWED_MAX * sizeof(struct quipu_allowed_writer),
    RANGES_OFFSET = REQUESTS_OFFSET + REQUESTS_MAX * sizeof(struct quipu_watch_request),
    RING_OFFSET = RANGES_OFFSET + RANGES_MAX * sizeof(struct quipu_watch_range),
    NAP = 200 * 1000,     /* nanoseconds */
    ANSWER_TAKEN_MS = 20, /* between tests whether a thread that was answered still exists */
};
_Static_assert(RING_OFFSET % QUIPU_PAGE == 0, "the ring begins with a page");

static const char prefix[] = "quipu-watch-";

/* ---- Files that were left ---- */

/* Whether the file open at FD belonged to a watcher that was killed. A watcher locks its file
 * before it marks it as a watch file; the lock also works across containers, in which process
 * numbers differ. The process number is tested too, for file systems without locks. */
static bool is_left(int fd) {
    struct quipu_watch_file file;
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           pread(fd, &file, sizeof file, 0) == sizeof file &&
           memcmp(file.magic, QUIPU_WATCH_MAGIC, sizeof file.magic) == 0 && file.consumer &&
           has_ended((pid_t)file.consumer, (pid_t)file.consumer) &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Removes files that were left. Nobody else would, and each takes as much memory as this one. */
static void remove_left(const char *path) {
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0)
            continue;
        int fd =
            openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && is_left(fd))
            unlinkat(dirfd(directory), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (directory)
        closedir(directory);
}

/* ---- The file ---- */

/* Makes the file in memory, where it needs no disk, or in the user's directory for such files. */
static char *make_file(void) {
    static const char memory[] = "/dev/shm";
    const char *directory = getenv("TMPDIR");
    char *path = NULL;
    remove_left(directory ? directory : memory);
    if (!directory)
        path = make_temporary_in(memory, prefix);
    return path ? path : make_temporary(prefix);
}

const char *ring_make(struct ring *ring) {
    *ring = (struct ring){.size = RING_OFFSET + RING_SIZE, .path = make_file()};
    ring->fd = ring->path ? open(ring->path, O_RDWR | O_CLOEXEC) : -1;
    void *map = MAP_FAILED;
    if (ring->fd >= 0 && (errno = posix_fallocate(ring->fd, 0, (off_t)ring->size)) == 0)
        map = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (map == MAP_FAILED)
        return strerror(errno);
    flock(ring->fd, LOCK_EX); /* held while the watcher runs: see is_left */
    ring->file = map;
    ring->allowed = (void *)((char *)map + ALLOWED_OFFSET);
    ring->requests = (void *)((char *)map + REQUESTS_OFFSET);
    ring->ranges = (void *)((char *)map + RANGES_OFFSET);
    ring->records = (uint8_t *)map + RING_OFFSET;
    memcpy(ring->file->magic, QUIPU_WATCH_MAGIC, sizeof ring->file->magic);
    ring->file->version = QUIPU_WATCH_VERSION;
    ring->file->allowed_offset = ALLOWED_OFFSET;
    ring->file->allowed_count = ALLOWED_MAX;
    ring->file->request_offset = REQUESTS_OFFSET;
    ring->file->range_offset = RANGES_OFFSET;
    ring->file->ring_offset = RING_OFFSET;
    ring->file->ring_size = RING_SIZE;
    ring->file->consumer = (uint32_t)getpid();
    return NULL;
}

const char *ring_give(const struct ring *ring, pid_t process) {
    char path[64];
    struct stat owner;
    snprintf(path, sizeof path, "/proc/%d", (int)process);
    if (stat(path, &owner) != 0)
        return errno == ENOENT ? "it has ended" : strerror(errno);
    if (owner.st_uid == geteuid() || chown(ring->path, owner.st_uid, owner.st_gid) == 0)
        return NULL;
    return strerror(errno);
}

void ring_hide(struct ring *ring) {
    if (ring->path)
        unlink(ring->path);
    free(ring->path);
    ring->path = NULL;
}

/* Processes that still have it mapped keep the header, and what they write to the ring from now
 * on. */
void ring_remove(struct ring *ring) {
    if (ring->file) {
        __atomic_store_n(&ring->file->consumer, 0, __ATOMIC_RELEASE);
        madvise(ring->records, RING_SIZE, MADV_REMOVE);
        munmap(ring->file, ring->size);
    }
    if (ring->file || ring->path)
        close(ring->fd);
    ring_hide(ring);
    *ring = (struct ring){0};
}

bool ring_add_ranges(struct ring *ring, struct quipu_watch_request *request,
                     const struct quipu_watch_range *ranges, size_t count, uint64_t bias) {
    struct quipu_watch_range *own = ring->ranges + ring->range_count;
    if (count > RANGES_MAX - ring->range_count)
        return false;
    for (size_t i = 0; i < count; i++)
        own[i] = (struct quipu_watch_range){ranges[i].begin + bias, ranges[i].end + bias};
    request->first_range = ring->range_count;
    request->range_count = (uint32_t)count;
    ring->range_count += (uint32_t)count;
    return true;
}

uint32_t ring_ask(struct ring *ring, const struct quipu_watch_request *request) {
    uint32_t number = 0, count = ring->file->request_count;
    while (number < count &&
           __atomic_load_n(&ring->requests[number].state, __ATOMIC_ACQUIRE) != QUIPU_REQUEST_GONE)
        number++;
    if (number == REQUESTS_MAX)
        return REQUESTS_MAX;
    ring->requests[number] = *request;
    __atomic_store_n(&ring->requests[number].state, QUIPU_REQUEST_WANTED, __ATOMIC_RELEASE);
    if (number == count)
        __atomic_store_n(&ring->file->request_count, count + 1, __ATOMIC_RELEASE);
    return number;
}

void ring_allow(struct ring *ring, uint32_t number, uint64_t pc) {
    uint64_t place = quipu_allowed_place(number, pc);
    for (unsigned i = 0; i < QUIPU_ALLOWED_TRIES; i++) {
        struct quipu_allowed_writer *writer = &ring->allowed[(place + i) % ALLOWED_MAX];
        if (writer->module == number && writer->pc == pc)
            return;
        if (writer->module)
            continue;
        writer->pc = pc;
        __atomic_store_n(&writer->module, number, __ATOMIC_RELEASE);
        return;
    }
}

/* ---- Records ---- */

static struct quipu_record *record_at(const struct ring *ring, uint64_t at) {
    return (struct quipu_record *)(ring->records + at % RING_SIZE);
}

static uint32_t size_of(const struct quipu_record *record) {
    return __atomic_load_n(&record->size, __ATOMIC_ACQUIRE);
}

/* Returns the number of bytes ever reserved. More than a ring's size beyond the tail is invalid,
 * and is limited to that. */
static uint64_t head_of(const struct ring *ring) {
    uint64_t head = __atomic_load_n(&ring->file->head, __ATOMIC_ACQUIRE);
    return head < ring->tail + RING_SIZE ? head : ring->tail + RING_SIZE;
}

/* Whether the rest of RECORD is valid for its kind. */
static bool is_sound(const struct quipu_record *record, uint32_t size) {
    const struct quipu_hit *hit = (const void *)record;
    const struct quipu_module_record *module = (const void *)record;
    switch (record->kind) {
    case QUIPU_RECORD_PAD:
        return true;
    case QUIPU_RECORD_MODULE:
        return size >= sizeof *module && module->build_id_size <= QUIPU_BUILD_ID_MAX &&
               module->name_size && module->name_size <= size - sizeof *module &&
               ((const char *)(module + 1))[module->name_size - 1] == '\0';
    case QUIPU_RECORD_HIT:
        return size >= sizeof *hit && hit->told <= size &&
               2 * ((hit->told + 7) / 8 * 8) <= size - sizeof *hit;
    default:
        return false;
    }
}

/* Whether SIZE is possible for a record at AT. */
static bool fits(uint64_t at, uint32_t size) {
    return size && size % 8 == 0 && size <= RING_SIZE - at % RING_SIZE;
}

static void clear(struct ring *ring, uint64_t size) {
    memset(record_at(ring, ring->tail), 0, size);
    ring->tail += size;
    __atomic_store_n(&ring->file->tail, ring->tail, __ATOMIC_RELEASE);
}

struct quipu_record *ring_next(struct ring *ring) {
    for (;;) {
        struct quipu_record *record = record_at(ring, ring->tail);
        uint32_t size = size_of(record);
        if (!size)
            return NULL;
        if (!fits(ring->tail, size)) {
            if (head_of(ring) > ring->tail) {
                ring_skip(ring);
                continue;
            }
            memset(record_at(ring, ring->tail), 0, 8); /* no writer has reserved that */
            return NULL;
        }
        if (record->kind != QUIPU_RECORD_PAD && is_sound(record, size))
            return record;
        ring->lost += record->kind == QUIPU_RECORD_PAD ? 0 : size;
        clear(ring, size);
    }
}

void ring_done(struct ring *ring, const struct quipu_record *record) {
    clear(ring, record->size);
}

/* ---- Incomplete records ---- */

bool ring_is_stuck(const struct ring *ring) {
    return head_of(ring) > ring->tail && !size_of(record_at(ring, ring->tail));
}

bool ring_is_abandoned(const struct ring *ring) {
    const struct quipu_record *record = record_at(ring, ring->tail);
    return record->pid && record->thread && has_ended((pid_t)record->pid, (pid_t)record->thread) &&
           !size_of(record);
}

/* Clears the bytes up to AT, across the ring's end if necessary. */
static void skip_to(struct ring *ring, uint64_t at) {
    ring->lost += at - ring->tail;
    while (ring->tail < at) {
        uint64_t here = RING_SIZE - ring->tail % RING_SIZE;
        clear(ring, at - ring->tail < here ? at - ring->tail : here);
    }
}

void ring_skip(struct ring *ring) {
    uint64_t head = head_of(ring), at = ring->tail + 8;
    for (; at < head; at += 8) {
        const struct quipu_record *record = record_at(ring, at);
        uint32_t size = size_of(record);
        if (fits(at, size) && record->pid && record->kind != QUIPU_RECORD_PAD &&
            is_sound(record, size))
            break;
    }
    skip_to(ring, at < head ? at : head > ring->tail ? head : ring->tail + 8);
}

/* ---- Sleeping and waking ---- */

static void wait_on(uint32_t *word, uint32_t value, unsigned milliseconds) {
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0);
}

void ring_sleep(struct ring *ring, unsigned milliseconds) {
    __atomic_store_n(&ring->file->waiting, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&record_at(ring, ring->tail)->size, __ATOMIC_SEQ_CST))
        wait_on(&ring->file->waiting, 1, milliseconds);
    __atomic_store_n(&ring->file->waiting, 0, __ATOMIC_SEQ_CST);
}

void ring_nap(void) {
    const struct timespec time = {0, NAP};
    nanosleep(&time, NULL);
}

void ring_answer(struct quipu_hit *hit, uint32_t answer) {
    __atomic_store_n(&hit->answer, answer, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &hit->answer, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    while (__atomic_load_n(&hit->answer, __ATOMIC_SEQ_CST) == answer &&
           !has_ended((pid_t)hit->record.pid, (pid_t)hit->record.thread))
        wait_on(&hit->answer, answer, ANSWER_TAKEN_MS);
}
