/* file.c: a trace file: its blocks, by process and thread; see trace.h. */
#include "trace/schedule.h"
#include "trace/split.h"
#include "trace/trace.h"

#include "format/notes.h"
#include "symbols/binary.h"
#include "symbols/moved.h"
#include "symbols/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
    PATH_MOST = 4096 /* bytes of a module's path, with its NUL */
};

/* What is not a trace. Its one argument is the path. */
static const char no_trace[] = "'%s' is not a trace; 'quipu trace -o FILE -- PROGRAM' makes one";

/* Maps the regular file of which FD is. */
static const char *map_bytes(struct arena *arena, struct trace *trace, int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return arena_print(arena, "cannot open '%s': %s", trace->path, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(struct quipu_trace_file))
        return arena_print(arena, no_trace, trace->path);
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return arena_print(arena, "cannot map '%s': %s", trace->path, strerror(errno));
    trace->bytes = bytes;
    trace->size = (size_t)status.st_size;
    return NULL;
}

static const char *map_file(struct arena *arena, struct trace *trace) {
    int fd = open(trace->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return arena_print(arena, "cannot open '%s': %s", trace->path, strerror(errno));
    const char *cause = map_bytes(arena, trace, fd);
    close(fd);
    if (cause)
        return cause;
    const struct quipu_trace_file *header = (const void *)trace->bytes;
    if (memcmp(header->magic, QUIPU_TRACE_MAGIC, sizeof header->magic) != 0)
        return arena_print(arena, no_trace, trace->path);
    if (header->version != QUIPU_TRACE_VERSION)
        return arena_print(arena,
                           "'%s' is a trace of version %u, this quipu reads version %d; record it "
                           "anew",
                           trace->path, header->version, QUIPU_TRACE_VERSION);
    return NULL;
}

bool trace_is(const char *path) {
    uint8_t magic[sizeof(((struct quipu_trace_file *)0)->magic)];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is = read(fd, magic, sizeof magic) == sizeof magic &&
              memcmp(magic, QUIPU_TRACE_MAGIC, sizeof magic) == 0;
    close(fd);
    return is;
}

static struct traced_process *find_process(struct trace *trace,
                                           const struct quipu_trace_chunk *chunk) {
    for (size_t i = 0; i < trace->processes.count; i++)
        if (trace->processes.data[i]->number == chunk->process)
            return trace->processes.data[i];
    struct traced_process *process = ARENA_NEW(&trace->arena, struct traced_process);
    process->number = chunk->process;
    process->pid = chunk->pid;
    vector_push(&trace->arena, &trace->processes, process);
    return process;
}

static struct traced_module *find_module(const struct trace *trace, const char *path) {
    for (size_t i = 0; i < trace->modules.count; i++)
        if (strcmp(trace->modules.data[i]->path, path) == 0)
            return trace->modules.data[i];
    return NULL;
}

/* Whether BUILD_ID, of a chunk, is that of BINARY. A binary without one passes. */
static bool is_of_build(const struct binary *binary, const uint8_t *build_id) {
    size_t size = binary->build_id_size;
    if (size > sizeof(((struct quipu_trace_chunk *)0)->build_id))
        size = sizeof(((struct quipu_trace_chunk *)0)->build_id);
    return size == 0 || memcmp(binary->build_id, build_id, size) == 0;
}

static const char *other_build(struct arena *arena, const struct trace *trace, const char *path) {
    return arena_print(arena, "'%s' is of another build than the one that '%s' was recorded with",
                       path, trace->path);
}

/* Opens the binary that ran as PATH: there, or where the user says that it is now. */
static const char *open_traced(struct arena *arena, const char *path, const uint8_t *build_id,
                               struct binary **binary) {
    const char *cause = binary_open(arena, path, binary);
    if (!cause && is_of_build(*binary, build_id))
        return NULL;
    const uint32_t size = sizeof(((struct quipu_trace_chunk *)0)->build_id);
    struct binary *moved = open_moved(arena, path, build_id, size);
    if (!moved)
        return cause;
    if (!cause)
        binary_close(*binary);
    *binary = moved;
    return NULL;
}

/* Opens the binary at PATH as a further module of the trace. Its build must have BUILD_ID. */
static const char *open_module(struct arena *arena, struct trace *trace, const char *path,
                               const uint8_t *build_id) {
    struct traced_module *module = ARENA_NEW(&trace->arena, struct traced_module);
    module->path = path;
    size_t size;
    const char *cause = open_traced(arena, path, build_id, &module->binary);
    if (cause)
        return arena_print(arena,
                           "'%s': %s; '%s' can only be read beside the binary it is of: if that "
                           "was moved, name its directory in QUIPU_BINARIES",
                           path, cause, trace->path);
    vector_push(&trace->arena, &trace->modules, module);
    if (!is_of_build(module->binary, build_id))
        return other_build(arena, trace, path);
    if (!binary_section(module->binary, QUIPU_FUNCTIONS_SECTION, &size))
        return arena_print(
            arena, "'%s': it has no notes of traces; build it with 'quipu cc --quipu=trace'", path);
    cause = read_trace_notes(&trace->arena, module);
    return cause ? arena_print(arena, "'%s': %s", path, cause) : NULL;
}

/* Writes the SIZE bytes of a block's contents, of which STORED ones are at BYTES. Returns false if
 * they are corrupt. */
static bool read_contents(void *contents, uint32_t size, const uint8_t *bytes, uint32_t stored) {
    if (stored != size)
        return ZSTD_decompress(contents, size, bytes, stored) == size;
    memcpy(contents, bytes, size);
    return true;
}

/* Returns the path of a module, which is the contents of BLOCK with its BYTES, or NULL. */
static const char *read_path(struct arena *arena, const struct quipu_trace_block *block,
                             const uint8_t *bytes) {
    char path[PATH_MOST];
    if (block->size >= PATH_MOST)
        return NULL;
    if (!read_contents(path, block->size, bytes, block->stored))
        return NULL;
    return memchr(path, '\0', block->size) ? NULL : arena_copy(arena, path, block->size);
}

static const char *add_module(struct arena *arena, struct trace *trace,
                              const struct quipu_trace_block *block, const uint8_t *bytes) {
    const struct quipu_trace_chunk *chunk = &block->chunk;
    const char *path = read_path(arena, block, bytes);
    if (!path)
        return arena_print(arena, "'%s' is corrupt: a module has no name", trace->path);
    struct traced_module *module = find_module(trace, path);
    if (!module) {
        const char *cause = open_module(arena, trace, path, chunk->build_id);
        if (cause)
            return cause;
        module = *vector_at(&trace->modules, trace->modules.count - 1);
    } else if (!is_of_build(module->binary, chunk->build_id)) {
        return other_build(arena, trace, path);
    }
    struct loaded_module loaded = {module, chunk->begin};
    vector_push(&trace->arena, &find_process(trace, chunk)->modules, loaded);
    return NULL;
}

static const char *add_libraries(struct arena *arena, struct trace *trace,
                                 const struct quipu_trace_block *block, const uint8_t *bytes) {
    struct traced_process *process = find_process(trace, &block->chunk);
    const char *corrupt = "'%s' is corrupt: the names of the libraries of process %u";
    if (block->size > QUIPU_TRACE_RECORDS_MAX)
        return arena_print(arena, corrupt, trace->path, block->chunk.pid);
    uint8_t *contents = ARENA_ARRAY(&trace->arena, uint8_t, (size_t)block->size + 1);
    if (!read_contents(contents, block->size, bytes, block->stored))
        return arena_print(arena, corrupt, trace->path, block->chunk.pid);
    for (size_t at = 0; at + sizeof(uint64_t) < block->size;) {
        struct loaded_library library = {.path = (const char *)contents + at + sizeof(uint64_t)};
        memcpy(&library.bias, contents + at, sizeof library.bias);
        vector_push(&trace->arena, &process->libraries, library);
        at += sizeof library.bias + strlen(library.path) + 1;
    }
    return NULL;
}

static const char *add_window(struct arena *arena, struct trace *trace,
                              const struct quipu_trace_block *block, const uint8_t *bytes) {
    char *text = ARENA_ARRAY(&trace->arena, char, (size_t)block->size + 1);
    if (block->size > QUIPU_TRACE_RECORDS_MAX ||
        !read_contents(text, block->size, bytes, block->stored) ||
        !window_read(&trace->window, text))
        return arena_print(arena, "'%s' is corrupt: which of the run it has", trace->path);
    return NULL;
}

static const char *add_schedule(struct arena *arena, struct trace *trace,
                                const struct quipu_trace_block *block, const uint8_t *bytes) {
    uint8_t *contents = NULL;
    bool good = block->size <= QUIPU_TRACE_RECORDS_MAX;
    if (good) {
        contents = ARENA_ARRAY(&trace->arena, uint8_t, (size_t)block->size + 1);
        good = read_contents(contents, block->size, bytes, block->stored) &&
               schedule_add(trace, &block->chunk, contents, block->size);
    }
    return good ? NULL : arena_print(arena, "'%s' is corrupt: its schedule", trace->path);
}

static const char *add_records(struct arena *arena, struct trace *trace,
                               const struct quipu_trace_block *block, const uint8_t *bytes) {
    const struct quipu_trace_chunk *chunk = &block->chunk;
    struct traced_process *process = find_process(trace, chunk);
    struct traced_thread *thread = NULL;
    if (block->size > QUIPU_TRACE_CONTENTS_MAX || chunk->start > QUIPU_TRACE_RECORDS_MAX ||
        chunk->counters > QUIPU_TRACE_COUNTERS_MOST ||
        block->size < quipu_trace_counters_size(chunk) ||
        (chunk->start && chunk->start < sizeof(struct quipu_trace_start)))
        return arena_print(arena,
                           "'%s' is corrupt: thread %u has a chunk of %u bytes, %u of its start",
                           trace->path, chunk->tid, block->size, chunk->start);
    for (size_t i = 0; i < trace->threads.count; i++)
        if (trace->threads.data[i]->process == process &&
            trace->threads.data[i]->number == chunk->thread)
            thread = trace->threads.data[i];
    if (!thread) {
        thread = ARENA_NEW(&trace->arena, struct traced_thread);
        thread->process = process;
        thread->number = chunk->thread;
        thread->tid = chunk->tid;
        vector_push(&trace->arena, &trace->threads, thread);
    }
    struct traced_chunk records = {.number = chunk->number,
                                   .stored = block->stored,
                                   .size = block->size,
                                   .bytes = bytes,
                                   .fs_base = chunk->begin,
                                   .counters = chunk->counters,
                                   .start = chunk->start,
                                   .time = chunk->time,
                                   .address = chunk->address,
                                   .end = chunk->end,
                                   .split = chunk->flags & QUIPU_TRACE_SPLIT,
                                   .broken = chunk->flags & QUIPU_TRACE_BROKEN};
    vector_push(&trace->arena, &thread->chunks, records);
    return NULL;
}

static int compare_chunks(const void *a, const void *b) {
    const struct traced_chunk *first = a, *second = b;
    return (first->number > second->number) - (first->number < second->number);
}

static int compare_threads(const void *a, const void *b) {
    const struct traced_thread *first = *(struct traced_thread *const *)a;
    const struct traced_thread *second = *(struct traced_thread *const *)b;
    if (first->process->number != second->process->number)
        return first->process->number < second->process->number ? -1 : 1;
    return (first->number > second->number) - (first->number < second->number);
}

/* Brings the thread's chunks into their order. Those behind a gap are dropped, which is allowed
 * where something is missing. */
static const char *order_chunks(struct arena *arena, const struct trace *trace,
                                struct traced_thread *thread) {
    uint32_t next = 0;
    qsort(thread->chunks.data, thread->chunks.count, sizeof *thread->chunks.data, compare_chunks);
    for (size_t i = 0; i < thread->chunks.count; i++) {
        struct traced_chunk *chunk = &thread->chunks.data[i];
        chunk->broken |= chunk->number != next && window_is_set(&trace->window);
        if (chunk->number != next && !chunk->broken) {
            if (!trace->cut && !trace->stopped)
                return arena_print(arena, "'%s' is corrupt: a chunk of thread %u is missing",
                                   trace->path, thread->tid);
            thread->chunks.count = i;
        } else {
            next = chunk->number + 1;
        }
    }
    return NULL;
}

/* Drops the threads of processes that were beginning when the recording was stopped, and have told
 * of no module yet. */
static void drop_unknown(struct trace *trace) {
    size_t kept = 0;
    for (size_t i = 0; i < trace->threads.count; i++)
        if (trace->threads.data[i]->process->modules.count)
            trace->threads.data[kept++] = trace->threads.data[i];
    trace->threads.count = kept;
}

static const char *read_blocks(struct arena *arena, struct trace *trace) {
    const char *cause = NULL;
    size_t at = sizeof(struct quipu_trace_file);
    trace->cut = true;
    while (!cause && trace->cut) {
        struct quipu_trace_block block;
        if (trace->size - at < sizeof block)
            break;
        memcpy(&block, trace->bytes + at, sizeof block);
        at += sizeof block;
        if (trace->size - at < block.stored)
            break;
        const uint8_t *bytes = trace->bytes + at;
        at += block.stored;
        if (block.chunk.kind == QUIPU_TRACE_MODULE) {
            cause = add_module(arena, trace, &block, bytes);
        } else if (block.chunk.kind == QUIPU_TRACE_LIBRARIES) {
            cause = add_libraries(arena, trace, &block, bytes);
        } else if (block.chunk.kind == QUIPU_TRACE_WINDOW) {
            cause = add_window(arena, trace, &block, bytes);
        } else if (block.chunk.kind == QUIPU_TRACE_SCHEDULE ||
                   block.chunk.kind == QUIPU_TRACE_TIMES) {
            cause = add_schedule(arena, trace, &block, bytes);
        } else if (block.chunk.kind == QUIPU_TRACE_RECORDS) {
            cause = add_records(arena, trace, &block, bytes);
        } else if (block.chunk.kind == QUIPU_TRACE_LAST) {
            trace->lost = block.chunk.number & QUIPU_TRACE_LOST;
            trace->stopped = block.chunk.number & QUIPU_TRACE_STOPPED;
            trace->dropped = block.chunk.number & QUIPU_TRACE_DROPPED;
            trace->other = block.chunk.number & QUIPU_TRACE_OTHER;
            trace->cut = false;
        } else {
            cause = arena_print(arena, "'%s' is corrupt: a block at byte %zu is of no known kind",
                                trace->path, at - block.stored - sizeof block);
        }
    }
    if (trace->threads.count)
        qsort(trace->threads.data, trace->threads.count, sizeof(struct traced_thread *),
              compare_threads);
    if (trace->stopped)
        drop_unknown(trace);
    for (size_t i = 0; !cause && i < trace->threads.count; i++)
        cause = order_chunks(arena, trace, trace->threads.data[i]);
    return cause;
}

/* As read_contents, of a chunk that is taken apart. */
static bool read_split(const struct traced_chunk *chunk, uint8_t *records) {
    uint8_t split[SPLIT_MAX];
    size_t size = ZSTD_decompress(split, sizeof split, chunk->bytes, chunk->stored), joined;
    return !ZSTD_isError(size) && join_records(split, size, records, &joined) &&
           joined == chunk->size;
}

const char *read_chunk(const struct traced_chunk *chunk, uint8_t *records) {
    bool good = chunk->split ? read_split(chunk, records)
                             : read_contents(records, chunk->size, chunk->bytes, chunk->stored);
    if (!good)
        return "a chunk of its records is corrupt";
    memset(records + chunk->size, 0, QUIPU_TRACE_CONTENTS_MAX - chunk->size);
    return NULL;
}

const char *trace_open(struct arena *arena, const char *path, struct trace **result) {
    struct trace *trace = ARENA_NEW(arena, struct trace);
    trace->path = arena_copy(arena, path, strlen(path));
    const char *cause = map_file(arena, trace);
    if (!cause)
        cause = read_blocks(arena, trace);
    if (cause)
        trace_close(trace);
    else
        *result = trace;
    return cause;
}

const char *trace_lacks_records(struct trace *trace) {
    if (trace->threads.count)
        return NULL;
    if (trace->other)
        return arena_print(&trace->arena,
                           "'%s' has no records: what ran was built for another format of traces; "
                           "build it again with the quipu that records",
                           trace->path);
    return arena_print(&trace->arena,
                       "'%s' has no records: nothing that ran was built with "
                       "'quipu cc --quipu=trace'",
                       trace->path);
}

void trace_close(struct trace *trace) {
    for (size_t i = 0; i < trace->processes.count; i++)
        stack_modules_end(trace->processes.data[i]->stack_modules);
    for (size_t i = 0; i < trace->modules.count; i++) {
        binary_close(trace->modules.data[i]->binary);
        binary_close(trace->modules.data[i]->layout);
    }
    if (trace->bytes)
        munmap((void *)trace->bytes, trace->size);
    arena_release(&trace->arena);
}
