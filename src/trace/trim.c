/* trim.c: takes out of a trace file what is behind the first instructions of each thread; see
 * trim.h.
 *
 * How many instructions a chunk has only shows when they are regenerated. While programs run, more
 * is kept than is needed for sure (window.c). Here each thread is followed up to the last
 * instruction of its window, and the records behind that are left out. The new file takes the
 * place of the old one when it is whole, so one of both is always there. */
#include "trace/trim.h"

#include "trace/between.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* What is needed of a thread: all up to there. */
struct needed_records {
    const struct traced_thread *thread;
    struct record_position end; /* in its last chunk; chunk UINT32_MAX: all of them */
};

typedef VECTOR(struct needed_records) needed_list;

/* Follows the thread to the end of its window, if that is in its records. */
static struct needed_records find_needed(struct trace *trace, const struct traced_thread *thread) {
    struct needed_records needed = {thread, {UINT32_MAX, 0}};
    struct trace_walk *walk = trace_begin(trace, thread);
    struct trace_step *step;
    uint64_t given = 0;
    while (trace_step(walk, &step))
        given++;
    if (given >= trace->window.first)
        needed.end = trace_next_position(walk);
    trace_end(walk);
    return needed;
}

static const struct needed_records *find_thread(const needed_list *needed,
                                                const struct quipu_trace_chunk *chunk) {
    for (size_t i = 0; i < needed->count; i++)
        if (needed->data[i].thread->process->number == chunk->process &&
            needed->data[i].thread->number == chunk->thread)
            return &needed->data[i];
    return NULL;
}

static const struct traced_chunk *find_chunk(const struct traced_thread *thread, uint32_t number) {
    for (size_t i = 0; i < thread->chunks.count; i++)
        if (thread->chunks.data[i].number == number)
            return &thread->chunks.data[i];
    return NULL;
}

/* Writes BLOCK without its records behind byte OFFSET of them. Returns false if it cannot be read,
 * or would not become smaller; then nothing is written. */
static bool write_cut(const struct traced_thread *thread, struct quipu_trace_block block,
                      uint32_t offset, FILE *out) {
    static uint8_t contents[QUIPU_TRACE_CONTENTS_MAX];
    static uint8_t stored[ZSTD_COMPRESSBOUND(QUIPU_TRACE_CONTENTS_MAX)];
    const struct traced_chunk *chunk = find_chunk(thread, block.chunk.number);
    uint32_t size = quipu_trace_counters_size(&block.chunk) + block.chunk.start + offset +
                    QUIPU_TRACE_RECORD_MAX;
    if (!chunk || size >= block.size || read_chunk(chunk, contents))
        return false;
    size_t packed = ZSTD_compress(stored, sizeof stored, contents, size, ZSTD_CLEVEL_DEFAULT);
    bool smaller = !ZSTD_isError(packed) && packed < size;
    block.size = size;
    block.stored = smaller ? (uint32_t)packed : size;
    block.chunk.flags &= ~(uint32_t)QUIPU_TRACE_SPLIT;
    fwrite(&block, sizeof block, 1, out);
    fwrite(smaller ? stored : contents, block.stored, 1, out);
    return true;
}

/* Writes BLOCK, which is at BYTES, if it is needed, and what is of it. */
static void write_block(const needed_list *needed, const struct quipu_trace_block *block,
                        const uint8_t *bytes, FILE *out) {
    const struct needed_records *of =
        block->chunk.kind == QUIPU_TRACE_RECORDS ? find_thread(needed, &block->chunk) : NULL;
    if (of && block->chunk.number > of->end.chunk)
        return;
    if (!of || block->chunk.number < of->end.chunk ||
        !write_cut(of->thread, *block, of->end.offset, out))
        fwrite(bytes, sizeof *block + block->stored, 1, out);
}

/* Writes the blocks that are needed to OUT. Returns false if not all could be written, or the file
 * has no end. */
static bool write_needed(const struct trace *trace, const needed_list *needed, FILE *out) {
    size_t at = sizeof(struct quipu_trace_file);
    fwrite(trace->bytes, at, 1, out);
    while (trace->size - at >= sizeof(struct quipu_trace_block)) {
        struct quipu_trace_block block;
        memcpy(&block, trace->bytes + at, sizeof block);
        size_t size = sizeof block + block.stored;
        if (trace->size - at < size)
            return false;
        write_block(needed, &block, trace->bytes + at, out);
        at += size;
        if (block.chunk.kind == QUIPU_TRACE_LAST)
            return !ferror(out);
    }
    return false;
}

/* Writes a file beside that at PATH, and gives it its name. */
static bool replace_file(const struct trace *trace, const needed_list *needed, const char *path,
                         mode_t mode) {
    struct arena arena = {0};
    char *name = arena_print(&arena, "%s.XXXXXX", path);
    int fd = mkostemp(name, O_CLOEXEC);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    bool good = out && fchmod(fd, mode) == 0 && write_needed(trace, needed, out);
    if (out)
        good &= fclose(out) == 0;
    else if (fd >= 0)
        close(fd);
    good = good && rename(name, path) == 0;
    if (!good && fd >= 0)
        unlink(name);
    arena_release(&arena);
    return good;
}

static bool trim_opened(struct trace *trace, const char *path, mode_t mode) {
    needed_list needed = {0};
    bool drops = false;
    for (size_t i = 0; i < trace->threads.count; i++) {
        struct needed_records one = find_needed(trace, trace->threads.data[i]);
        drops |= one.end.chunk != UINT32_MAX;
        vector_push(&trace->arena, &needed, one);
    }
    return !drops || replace_file(trace, &needed, path, mode);
}

bool trim_trace(const char *path) {
    struct arena arena = {0};
    struct trace *trace;
    struct stat status;
    char *whole = realpath(path, NULL);
    bool good = whole && stat(whole, &status) == 0 && S_ISREG(status.st_mode) &&
                !trace_open(&arena, whole, &trace);
    if (good) {
        good = !trace_set_between_of_window(trace) &&
               trim_opened(trace, whole, status.st_mode & ALLPERMS);
        trace_close(trace);
    }
    free(whole);
    arena_release(&arena);
    return good;
}
