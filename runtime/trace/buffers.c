/* buffers.c: buffers for the program's threads, which 'quipu trace' empties (format/trace.h).
 *
 * A thread keeps its buffers, so their pages are mapped once. It takes the first empty one, which
 * is the one that is most likely in the cache. It waits only for a buffer of its own, while 'quipu
 * trace' lives, so it waits for nobody who waits for it. */
#include "runtime/core/note.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"
#include "runtime/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <time.h>

enum {
    ALIGNMENT = 2 * QUIPU_TRACE_FULL,
    PAUSE = 100 * 1000 * 1000, /* nanoseconds until a waiting thread looks who lives */
};

static uint32_t load(const uint32_t *from) {
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

static long open_file(const struct trace *trace, const char *name, int flags) {
    char path[PATH_SIZE];
    struct text text = {path, sizeof path, 0, false};
    text_add(&text, trace->directory);
    text_add(&text, "/");
    text_add(&text, name);
    return SYSTEM_CALL(openat, AT_FDCWD, path, flags | O_RDWR | O_CLOEXEC, 0600, 0, 0);
}

struct quipu_trace_control *quipu_trace_open_control(const struct trace *trace) {
    long fd = open_file(trace, QUIPU_TRACE_CONTROL, 0);
    if (fd < 0)
        return NULL;
    struct quipu_trace_control *control =
        map_memory(NULL, QUIPU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    if (is_error(control))
        return NULL;
    if (bytes_equal(control->magic, QUIPU_TRACE_MAGIC, sizeof control->magic)) {
        if (control->version == QUIPU_TRACE_VERSION)
            return control;
        control->other = QUIPU_TRACE_VERSION;
    }
    SYSTEM_CALL(munmap, control, QUIPU_PAGE, 0, 0, 0, 0);
    return NULL;
}

struct quipu_trace_time *quipu_trace_open_times(const struct trace *trace) {
    if (!trace->control->schedule)
        return NULL;
    long fd = open_file(trace, QUIPU_TRACE_TIMES_FILE, 0);
    if (fd < 0)
        return NULL;
    void *times = map_memory(NULL, QUIPU_TRACE_TIMES_SIZE, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_NORESERVE, (int)fd, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return is_error(times) ? NULL : times;
}

/* Returns the time, in nanoseconds. */
static uint64_t now(void) {
    enum {
        NANOSECONDS = 1000000000
    };
    struct quipu_trace_time time = {0, 0};
    SYSTEM_CALL(clock_gettime, QUIPU_TRACE_CLOCK, &time, 0, 0, 0, 0);
    return time.seconds * NANOSECONDS + time.nanoseconds;
}

/* Whether 'quipu trace' has ended: nobody has the lock. */
static bool is_abandoned(const struct trace *trace) {
    long fd = open_file(trace, QUIPU_TRACE_CONTROL, 0);
    if (fd < 0)
        return true;
    bool taken = SYSTEM_CALL(flock, fd, LOCK_SH | LOCK_NB, 0, 0, 0, 0) == 0;
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return taken;
}

/* ---- buffers ---- */

/* Reserves addresses for a buffer. Returns its begin, or an error. */
static char *reserve_addresses(void) {
    char *memory = map_memory(NULL, 2 * ALIGNMENT + QUIPU_PAGE, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(memory))
        return memory;
    char *begin = (char *)round_up((uint64_t)memory + QUIPU_PAGE, ALIGNMENT) - QUIPU_PAGE;
    char *end = begin + QUIPU_TRACE_BUFFER;
    if (begin > memory)
        SYSTEM_CALL(munmap, memory, begin - memory, 0, 0, 0, 0);
    SYSTEM_CALL(munmap, end, memory + 2 * ALIGNMENT + QUIPU_PAGE - end, 0, 0, 0, 0);
    return begin;
}

/* Maps a new file of SIZE bytes of the recording at ADDRESS. NULL: anywhere. Returns its begin, or
 * an error. Its chunk belongs to the calling process. */
static struct quipu_trace_chunk *map_new(const struct trace *trace, void *address, uint64_t size) {
    char name[24];
    struct text text = {name, sizeof name, 0, false};
    text_number(&text, __atomic_add_fetch(&trace->control->numbers, 1, __ATOMIC_RELAXED));
    long fd = open_file(trace, name, O_CREAT | O_EXCL);
    if (fd < 0)
        return (void *)fd;
    long error = SYSTEM_CALL(fallocate, fd, 0, 0, size, 0, 0);
    struct quipu_trace_chunk *chunk = (void *)error;
    if (error >= 0)
        chunk = map_memory(address, size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_POPULATE | (address ? MAP_FIXED : 0), (int)fd, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    if (is_error(chunk))
        return chunk;
    chunk->process = trace->process;
    chunk->pid = trace->pid;
    return chunk;
}

static void set_state(struct quipu_trace_chunk *chunk, enum quipu_trace_state state) {
    __atomic_store_n(&chunk->state, state, __ATOMIC_RELEASE);
}

static void wake(uint32_t *word) {
    __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
    SYSTEM_CALL(futex, word, FUTEX_WAKE, 1, 0, 0, 0);
}

/* Returns a new chunk of KIND whose contents have SIZE bytes; or NULL, which loses records. */
static struct quipu_trace_chunk *begin_description(const struct trace *trace, uint32_t kind,
                                                   uint64_t size) {
    struct quipu_trace_chunk *chunk = map_new(trace, NULL, QUIPU_PAGE + size);
    if (is_error(chunk)) {
        __atomic_add_fetch(&trace->control->lost, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    chunk->kind = kind;
    return chunk;
}

static void end_description(const struct trace *trace, struct quipu_trace_chunk *chunk,
                            uint64_t size) {
    set_state(chunk, QUIPU_TRACE_FILLED);
    SYSTEM_CALL(munmap, chunk, QUIPU_PAGE + size, 0, 0, 0, 0);
    wake(&trace->control->filled);
}

void quipu_trace_describe(struct trace *trace, const struct dl_phdr_info *info) {
    struct quipu_trace_chunk *chunk = begin_description(trace, QUIPU_TRACE_MODULE, QUIPU_PAGE);
    if (!chunk)
        return;
    struct text path = {records_of(chunk), QUIPU_PAGE, 0, false};
    chunk->begin = info->dlpi_addr;
    module_build_id(info, chunk->build_id);
    if (info->dlpi_name && info->dlpi_name[0])
        text_add(&path, info->dlpi_name);
    else
        quipu_program_path(path.data, path.size);
    end_description(trace, chunk, QUIPU_PAGE);
}

/* ---- modules without records ---- */

enum {
    LIBRARIES_SIZE = 8 * QUIPU_PAGE
};

struct libraries {
    const struct trace *trace;
    char *next, *end; /* of their description */
};

/* Describes the module if it has a path, and no records for this trace. What has no room is left
 * out. */
static int add_library(struct dl_phdr_info *info, size_t size, void *data) {
    struct libraries *libraries = data;
    const struct quipu_state *state = NULL;
    uint64_t bias = info->dlpi_addr;
    (void)size;
    if (!info->dlpi_name || info->dlpi_name[0] != '/' ||
        (find_note(info, quipu_use_state, &state) && state->trace == libraries->trace))
        return 0;
    uint64_t length = text_length(info->dlpi_name) + 1;
    if (length + sizeof bias > (uint64_t)(libraries->end - libraries->next))
        return 0;
    for (unsigned i = 0; i < sizeof bias; i++)
        *libraries->next++ = (char)(bias >> 8 * i);
    for (uint64_t i = 0; i < length; i++)
        *libraries->next++ = info->dlpi_name[i];
    return 0;
}

void quipu_trace_describe_libraries(struct trace *trace) {
    struct quipu_trace_chunk *chunk =
        begin_description(trace, QUIPU_TRACE_LIBRARIES, LIBRARIES_SIZE);
    if (!chunk)
        return;
    char *begin = records_of(chunk);
    visit_modules(add_library, &(struct libraries){trace, begin, begin + LIBRARIES_SIZE});
    end_description(trace, chunk, LIBRARIES_SIZE);
}

/* Counts a further buffer of THREAD, if there may be one. */
static bool count_buffer(const struct trace *trace, const struct thread *thread) {
    uint32_t count = __atomic_add_fetch(&trace->control->buffers, 1, __ATOMIC_RELAXED);
    if (thread->buffer_count == 0 || count <= trace->control->limit)
        return true;
    __atomic_sub_fetch(&trace->control->buffers, 1, __ATOMIC_RELAXED);
    return false;
}

/* Gives the thread a further buffer. Returns false if it gets none. */
static bool add_buffer(const struct trace *trace, struct thread *thread) {
    if (thread->buffer_count == BUFFERS_MOST || !count_buffer(trace, thread))
        return false;
    char *address = reserve_addresses();
    struct quipu_trace_chunk *chunk =
        is_error(address) ? (void *)address : map_new(trace, address, QUIPU_TRACE_BUFFER);
    if (is_error(chunk)) {
        if (!is_error(address))
            SYSTEM_CALL(munmap, address, QUIPU_TRACE_BUFFER, 0, 0, 0, 0);
        __atomic_sub_fetch(&trace->control->buffers, 1, __ATOMIC_RELAXED);
        return false;
    }
    thread->buffers[thread->buffer_count++] = chunk;
    set_state(chunk, QUIPU_TRACE_EMPTY);
    return true;
}

static struct quipu_trace_chunk *find_empty(const struct thread *thread) {
    for (uint32_t i = 0; i < thread->buffer_count; i++)
        if (load(&thread->buffers[i]->state) == QUIPU_TRACE_EMPTY)
            return thread->buffers[i];
    return NULL;
}

/* Returns an empty buffer, or NULL if the thread gets none any more. */
static struct quipu_trace_chunk *wait_for_buffer(const struct trace *trace, struct thread *thread) {
    struct quipu_trace_control *control = trace->control;
    const struct timespec pause = {.tv_nsec = PAUSE};
    for (;;) {
        uint32_t before = load(&control->emptied);
        struct quipu_trace_chunk *chunk = find_empty(thread);
        if (!chunk && add_buffer(trace, thread))
            chunk = find_empty(thread);
        if (chunk)
            return chunk;
        thread->broken = load(&control->drops) && thread->buffer_count;
        if (thread->broken)
            __atomic_store_n(&control->drops, QUIPU_TRACE_HAS_DROPPED, __ATOMIC_RELAXED);
        if (thread->broken || load(&control->stopped) || thread->buffer_count == 0 ||
            is_abandoned(trace))
            return NULL;
        __atomic_add_fetch(&control->waiting, 1, __ATOMIC_SEQ_CST);
        SYSTEM_CALL(futex, &control->emptied, FUTEX_WAIT, before, &pause, 0, 0);
        __atomic_sub_fetch(&control->waiting, 1, __ATOMIC_SEQ_CST);
    }
}

static void hand_over(const struct trace *trace, struct thread *thread) {
    struct quipu_trace_chunk *chunk = thread->chunk;
    thread->chunk = NULL;
    if (!chunk)
        return;
    quipu_trace_end_counters(trace, chunk);
    chunk->end = trace->control->schedule ? now() : 0;
    if (!thread->held) {
        set_state(chunk, QUIPU_TRACE_FILLED);
        wake(&trace->control->filled);
        return;
    }
    /* It stays as it is until the process ends. */
    thread->held = NULL;
    for (uint32_t i = 0; i < thread->buffer_count; i++)
        if (thread->buffers[i] == chunk)
            thread->buffers[i--] = thread->buffers[--thread->buffer_count];
}

/* Returns memory of the thread that nobody reads, and uses it from now on. */
static char *nowhere(struct thread *thread) {
    if (!thread->nowhere) {
        char *begin = reserve_addresses();
        map_memory(begin, QUIPU_TRACE_BUFFER, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        thread->nowhere = begin + QUIPU_PAGE;
    }
    thread->known.unread = (uint64_t)thread->nowhere;
    thread->known.turns = thread->broken ? 0 : QUIPU_TRACE_LOOK_EVERY - 1;
    return thread->nowhere;
}

static void clear(char *from, size_t size) {
    char *at = from;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size), "=m"(*from) : "a"(0) : "memory");
}

/* The thread leaves the buffers of an earlier recording, if there was one. */
static void change_recording(struct trace *trace, struct thread *thread) {
    thread->broken = thread->nowhere; /* which has what it did before */
    if (thread->broken) {
        quipu_trace_drop_buffers(thread);
        thread->number = __atomic_add_fetch(&trace->thread_count, 1, __ATOMIC_RELAXED);
        thread->chunks = 0;
        thread->known.tickets = &trace->control->tickets;
        thread->known.ordered = trace->ordered;
    }
    thread->control = trace->control;
}

char *quipu_trace_next_buffer(struct trace *trace, struct thread *thread,
                              const struct full_frame *frame) {
    if (trace->phase == TRACE_ON && thread->control != trace->control)
        change_recording(trace, thread);
    if (trace->phase != TRACE_ON || thread->lost)
        return nowhere(thread);
    hand_over(trace, thread);
    if (thread->broken && !frame) /* readers need a start behind dropped records */
        return nowhere(thread);
    struct quipu_trace_chunk *chunk =
        load(&trace->control->stopped) ? NULL : wait_for_buffer(trace, thread);
    if (!chunk && thread->broken)
        return nowhere(thread);
    if (!chunk) {
        thread->lost = true;
        __atomic_add_fetch(&trace->control->lost, 1, __ATOMIC_RELAXED);
        return nowhere(thread);
    }
    if (chunk->kind) /* it was used before */
        clear(records_of(chunk), QUIPU_TRACE_RECORDS_MAX);
    chunk->kind = QUIPU_TRACE_RECORDS;
    chunk->tid = thread->tid;
    chunk->thread = thread->number;
    chunk->number = thread->chunks++;
    chunk->begin = thread_pointer();
    chunk->start = 0;
    chunk->flags = thread->broken ? QUIPU_TRACE_BROKEN : 0;
    chunk->address = (uint64_t)records_of(chunk);
    chunk->end = 0;
    if (frame && (thread->broken || (thread->inherits && !thread->begins) ||
                  (chunk->number && chunk->number % trace->control->start_every == 0))) {
        chunk->start = quipu_trace_describe_start(trace, records_of(chunk), frame);
        thread->inherits = false;
    }
    if (chunk->start || chunk->number == 0) /* who reads from here on knows none */
        clear((char *)thread->last, sizeof thread->last);
    quipu_trace_begin_counters(trace, chunk);
    thread->broken = false;
    thread->known.unread = 0;
    /* The last step: a switch in front of it is at the end of the chunk before. */
    chunk->time = trace->control->schedule ? now() : 0;
    set_state(chunk, QUIPU_TRACE_FILLING);
    thread->chunk = chunk;
    return records_of(chunk) + chunk->start;
}

void quipu_trace_drop_buffers(struct thread *thread) {
    for (uint32_t i = 0; i < thread->buffer_count; i++)
        SYSTEM_CALL(munmap, thread->buffers[i], QUIPU_TRACE_BUFFER, 0, 0, 0, 0);
    thread->buffer_count = 0;
    thread->chunk = NULL;
    thread->held = NULL;
    thread->lost = false;
    thread->known.unread = 0;
}
