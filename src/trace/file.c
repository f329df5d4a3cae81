/* file.c: a trace file: its chunks, by process and thread; see trace.h. */
#include "trace/trace.h"

#include "symbols/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE = 4096
};

/* What is not a trace. Its one argument is the path. */
static const char no_trace[] = "'%s' is not a trace; 'quipu trace -o FILE -- PROGRAM' makes one";

/* Maps the regular file of which FD is. */
static const char *map_bytes(struct arena *arena, struct trace *trace, int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return arena_print(arena, "cannot open '%s': %s", trace->path, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size < PAGE)
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
    trace->lost = header->flags & QUIPU_TRACE_LOST;
    trace->cut = header->size > trace->size;
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

/* Opens the binary at PATH as a further module of the trace. Its build must have BUILD_ID. */
static const char *open_module(struct arena *arena, struct trace *trace, const char *path,
                               const uint8_t *build_id) {
    struct traced_module *module = ARENA_NEW(&trace->arena, struct traced_module);
    module->path = path;
    const char *cause = binary_open(arena, path, &module->binary);
    if (cause)
        return arena_print(arena, "'%s': %s; '%s' can only be read beside the binary it is of",
                           path, cause, trace->path);
    vector_push(&trace->arena, &trace->modules, module);
    if (!is_of_build(module->binary, build_id))
        return other_build(arena, trace, path);
    cause = read_trace_notes(&trace->arena, module);
    return cause ? arena_print(arena, "'%s': %s", path, cause) : NULL;
}

static const char *add_module(struct arena *arena, struct trace *trace,
                              const struct quipu_trace_chunk *chunk) {
    const char *path = (const char *)(chunk + 1);
    if (!memchr(path, '\0', PAGE))
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

static const char *add_records(struct arena *arena, struct trace *trace,
                               const struct quipu_trace_chunk *chunk) {
    struct traced_process *process = find_process(trace, chunk);
    struct traced_thread *thread = NULL;
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
    if (chunk->number != thread->chunks.count)
        return arena_print(arena, "'%s' is corrupt: a chunk of thread %u is missing", trace->path,
                           chunk->tid);
    vector_push(&trace->arena, &thread->chunks, chunk);
    return NULL;
}

static const char *read_chunks(struct arena *arena, struct trace *trace) {
    const char *cause = NULL;
    for (size_t at = PAGE; !cause && at + QUIPU_TRACE_CHUNK <= trace->size;
         at += QUIPU_TRACE_CHUNK) {
        const struct quipu_trace_chunk *chunk = (const void *)(trace->bytes + at);
        if (chunk->kind == QUIPU_TRACE_MODULE)
            cause = add_module(arena, trace, chunk);
        else if (chunk->kind == QUIPU_TRACE_RECORDS)
            cause = add_records(arena, trace, chunk);
    }
    return cause;
}

const char *trace_open(struct arena *arena, const char *path, struct trace **result) {
    struct trace *trace = ARENA_NEW(arena, struct trace);
    trace->path = arena_copy(arena, path, strlen(path));
    const char *cause = map_file(arena, trace);
    if (!cause)
        cause = read_chunks(arena, trace);
    if (cause)
        trace_close(trace);
    else
        *result = trace;
    return cause;
}

const char *trace_lacks_records(struct trace *trace) {
    return trace->threads.count
               ? NULL
               : arena_print(&trace->arena,
                             "'%s' has no records: nothing that ran was built with "
                             "'quipu cc --quipu=trace'",
                             trace->path);
}

void trace_close(struct trace *trace) {
    for (size_t i = 0; i < trace->modules.count; i++)
        binary_close(trace->modules.data[i]->binary);
    if (trace->bytes)
        munmap((void *)trace->bytes, trace->size);
    arena_release(&trace->arena);
}
