/* writer.c: writes a trace file; see writer.h. Whatever ends this process, the file is good up to
 * its last complete block.
 *
 * Blocks wait in a ring. Each thread takes the next one, compresses it, and whoever finds the
 * oldest one compressed writes it.
 *
 * Invariants
 *   - written <= taken <= added <= written + SLOTS; block N is in slot N % SLOTS.
 *   - Blocks from `written` to `taken` are compressed or being compressed, and the others up to
 *     `added` wait. */
#include "trace/writer.h"

#include "format/trace.h"
#include "trace/split.h"
#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

enum {
    SLOTS = 16,
    SPLIT_LEVEL = 3,  /* from this one on records are taken apart: smaller, but slower */
    THREADS_MOST = 15 /* so that blocks wait, and not threads */
};

struct slot {
    bool done; /* it is ready for the file */
    struct quipu_trace_block block;
    const uint8_t *lent;       /* the contents; NULL: they are in `contents` */
    void (*release)(void *of); /* of lent contents; NULL: they have been released */
    void *of;
    uint8_t contents[QUIPU_TRACE_CONTENTS_MAX];
    uint8_t compressed[ZSTD_COMPRESSBOUND(SPLIT_MAX)];
};

/* A thread that compresses, or the caller's. */
struct compressor {
    struct trace_writer *writer;
    ZSTD_CCtx *context;
    pthread_t thread;
    uint8_t split[SPLIT_MAX]; /* what is compressed, of records */
};

struct trace_writer {
    struct arena *arena;
    const char *path;
    int fd, level;
    struct slot *slots;
    struct compressor *compressors[1 + THREADS_MOST]; /* the first one is the caller's */
    unsigned thread_count;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t work, progress;
    uint64_t added, taken, written; /* blocks */
    bool writes;                    /* a thread writes blocks to the file */
    bool ends;
    int error; /* errno of the write that failed, or 0 */
};

/* ---- the file ---- */

/* Writes all of the parts, which are changed. Returns errno, or 0. */
static int write_parts(int fd, struct iovec *parts, int count) {
    while (count > 0) {
        ssize_t written = writev(fd, parts, count);
        if (written < 0 && errno != EINTR)
            return errno;
        for (; written > 0 && count > 0; parts++, count--) {
            size_t done = (size_t)written < parts->iov_len ? (size_t)written : parts->iov_len;
            parts->iov_base = (char *)parts->iov_base + done;
            parts->iov_len -= done;
            written -= (ssize_t)done;
            if (parts->iov_len)
                break;
        }
        while (count > 0 && parts->iov_len == 0) {
            parts++;
            count--;
        }
    }
    return 0;
}

static const uint8_t *contents_of(const struct slot *slot) {
    return slot->lent ? slot->lent : slot->contents;
}

static bool is_compressed(const struct slot *slot) {
    return slot->block.stored < slot->block.size;
}

static int write_slot(int fd, struct slot *slot) {
    const uint8_t *contents = is_compressed(slot) ? slot->compressed : contents_of(slot);
    struct iovec parts[] = {{&slot->block, sizeof slot->block},
                            {(void *)contents, slot->block.stored}};
    return write_parts(fd, parts, 2);
}

static void release_contents(struct slot *slot) {
    if (slot->release)
        slot->release(slot->of);
    slot->release = NULL;
}

/* ---- compression ---- */

static void free_compressor(struct compressor *compressor) {
    if (compressor)
        ZSTD_freeCCtx(compressor->context);
    free(compressor);
}

/* Returns NULL if there is no memory. */
static struct compressor *new_compressor(struct trace_writer *writer) {
    struct compressor *compressor = malloc(sizeof *compressor);
    if (!compressor)
        return NULL;
    compressor->writer = writer;
    compressor->context = ZSTD_createCCtx();
    if (!compressor->context) {
        free_compressor(compressor);
        return NULL;
    }
    ZSTD_CCtx_setParameter(compressor->context, ZSTD_c_compressionLevel, writer->level);
    ZSTD_CCtx_setParameter(compressor->context, ZSTD_c_checksumFlag, 1);
    return compressor;
}

static void compress_slot(struct compressor *compressor, struct slot *slot) {
    const uint8_t *contents = contents_of(slot);
    struct quipu_trace_block *block = &slot->block;
    size_t size = block->size;
    bool split =
        block->chunk.kind == QUIPU_TRACE_RECORDS && compressor->writer->level >= SPLIT_LEVEL;
    if (!compressor->writer->level || !size)
        return;
    if (split) {
        size = split_records(&block->chunk, contents, size, compressor->split);
        contents = compressor->split;
    }
    size_t stored = ZSTD_compress2(compressor->context, slot->compressed, sizeof slot->compressed,
                                   contents, size);
    if (ZSTD_isError(stored) || stored >= block->size)
        return;
    block->stored = (uint32_t)stored;
    block->chunk.flags |= split ? QUIPU_TRACE_SPLIT : 0;
    release_contents(slot);
}

/* ---- the ring; its lock is held ---- */

static struct slot *slot_of(const struct trace_writer *writer, uint64_t number) {
    return &writer->slots[number % SLOTS];
}

/* Writes the oldest blocks that are ready, unless another thread does. */
static void write_ready(struct trace_writer *writer) {
    if (writer->writes)
        return;
    writer->writes = true;
    while (writer->written < writer->taken && slot_of(writer, writer->written)->done) {
        struct slot *slot = slot_of(writer, writer->written);
        if (!writer->error) {
            pthread_mutex_unlock(&writer->lock);
            int error = write_slot(writer->fd, slot);
            pthread_mutex_lock(&writer->lock);
            writer->error = error;
        }
        release_contents(slot);
        writer->written++;
        pthread_cond_broadcast(&writer->progress);
    }
    writer->writes = false;
}

/* Compresses the next block that waits. */
static void do_next(struct trace_writer *writer, struct compressor *compressor) {
    struct slot *slot = slot_of(writer, writer->taken++);
    pthread_mutex_unlock(&writer->lock);
    compress_slot(compressor, slot);
    pthread_mutex_lock(&writer->lock);
    slot->done = true;
    write_ready(writer);
}

static void *run_thread(void *of) {
    struct compressor *compressor = of;
    struct trace_writer *writer = compressor->writer;
    pthread_mutex_lock(&writer->lock);
    while (writer->taken < writer->added || !writer->ends) {
        if (writer->taken < writer->added)
            do_next(writer, compressor);
        else
            pthread_cond_wait(&writer->work, &writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* Starts a further thread. Returns false if there can be none. */
static bool start_thread(struct trace_writer *writer) {
    struct compressor *compressor = new_compressor(writer);
    if (!compressor || pthread_create(&compressor->thread, NULL, run_thread, compressor) != 0) {
        free_compressor(compressor);
        return false;
    }
    writer->compressors[++writer->thread_count] = compressor;
    return true;
}

/* ---- for the caller ---- */

struct trace_writer *writer_begin(struct arena *arena, const char *path, int level) {
    struct trace_writer *writer = ARENA_NEW(arena, struct trace_writer);
    struct quipu_trace_file header = {.version = QUIPU_TRACE_VERSION};
    memcpy(header.magic, QUIPU_TRACE_MAGIC, sizeof header.magic);
    writer->arena = arena;
    writer->path = arena_copy(arena, path, strlen(path));
    writer->level = level;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->work, NULL);
    pthread_cond_init(&writer->progress, NULL);
    writer->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error = writer->fd < 0
                    ? errno
                    : write_parts(writer->fd, &(struct iovec){&header, sizeof header}, 1);
    if (error)
        die("cannot write '%s': %s", path, strerror(error));
    writer->compressors[0] = new_compressor(writer);
    writer->slots = malloc(SLOTS * sizeof *writer->slots);
    if (!writer->compressors[0] || !writer->slots)
        die("cannot write '%s': %s", path, strerror(ENOMEM));
    return writer;
}

void writer_start_threads(struct trace_writer *writer, unsigned jobs) {
    cpu_set_t allowed;
    sigset_t all, before;
    if (!jobs && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        jobs = (unsigned)CPU_COUNT(&allowed);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
    while (writer->thread_count < jobs && writer->thread_count < THREADS_MOST &&
           start_thread(writer))
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

uint8_t *writer_contents(struct trace_writer *writer) {
    pthread_mutex_lock(&writer->lock);
    while (writer->added == writer->written + SLOTS)
        pthread_cond_wait(&writer->progress, &writer->lock);
    uint8_t *contents = slot_of(writer, writer->added)->contents;
    pthread_mutex_unlock(&writer->lock);
    return contents;
}

void writer_add_lent(struct trace_writer *writer, const struct quipu_trace_chunk *chunk,
                     const void *contents, size_t size, void (*release)(void *of), void *of) {
    const uint8_t *own = writer_contents(writer);
    pthread_mutex_lock(&writer->lock);
    struct slot *slot = slot_of(writer, writer->added++);
    slot->done = false;
    slot->block = (struct quipu_trace_block){
        .stored = (uint32_t)size, .size = (uint32_t)size, .chunk = *chunk};
    slot->lent = contents == own ? NULL : contents;
    slot->release = release;
    slot->of = of;
    if (writer->thread_count)
        pthread_cond_signal(&writer->work);
    else
        do_next(writer, writer->compressors[0]);
    pthread_mutex_unlock(&writer->lock);
}

void writer_add(struct trace_writer *writer, const struct quipu_trace_chunk *chunk,
                const void *contents, size_t size) {
    uint8_t *own = writer_contents(writer);
    if (size && contents != own)
        memcpy(own, contents, size);
    writer_add_lent(writer, chunk, own, size, NULL, NULL);
}

void writer_finish(struct trace_writer *writer) {
    pthread_mutex_lock(&writer->lock);
    while (writer->taken < writer->added) /* this thread helps */
        do_next(writer, writer->compressors[0]);
    while (writer->written < writer->added)
        pthread_cond_wait(&writer->progress, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
}

bool writer_failed(struct trace_writer *writer) {
    pthread_mutex_lock(&writer->lock);
    bool failed = writer->error;
    pthread_mutex_unlock(&writer->lock);
    return failed;
}

const char *writer_end(struct trace_writer *writer, unsigned flags) {
    struct quipu_trace_chunk last = {.kind = QUIPU_TRACE_LAST, .number = flags};
    writer_add(writer, &last, NULL, 0);
    writer_finish(writer);
    pthread_mutex_lock(&writer->lock);
    writer->ends = true;
    pthread_cond_broadcast(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    for (unsigned i = 1; i <= writer->thread_count; i++) {
        pthread_join(writer->compressors[i]->thread, NULL);
        free_compressor(writer->compressors[i]);
    }
    if (close(writer->fd) != 0 && !writer->error)
        writer->error = errno;
    free_compressor(writer->compressors[0]);
    free(writer->slots);
    return writer->error ? arena_print(writer->arena, "cannot write '%s': %s; the trace ends there",
                                       writer->path, strerror(writer->error))
                         : NULL;
}
