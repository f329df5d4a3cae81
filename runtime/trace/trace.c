/* trace.c: threads and processes that record; see trace.h.
 *
 * Inserted code calls it when a thread has no buffer, or no room in it. Without a recording
 * (QUIPU_TRACE) each thread writes into memory of its own, again and again.
 *
 * Not perfect: a child of _Fork or of clone without CLONE_VM continues in its parent's buffer. */
#include "runtime/trace/trace.h"
#include "runtime/core/note.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"
#include "runtime/trace/measure.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>

/* NULL: this module has not joined the others. */
static struct trace *trace;

extern char **environ;

struct quipu_trace_thread quipu_trace_unattached = {.cursor = QUIPU_TRACE_FULL};

void quipu_trace_start(void);

/* Threads hold it for a moment, with signals blocked. */
static void lock(void) {
    while (__atomic_exchange_n(&trace->lock, 1, __ATOMIC_ACQUIRE))
        SYSTEM_CALL(sched_yield, 0, 0, 0, 0, 0, 0);
}

static void unlock(void) {
    __atomic_store_n(&trace->lock, 0, __ATOMIC_RELEASE);
}

/* ---- modules ---- */

static void describe(const struct dl_phdr_info *info) {
    quipu_trace_describe(trace, info);
    quipu_trace_add_code(trace, info);
}

/* Describes this module. */
static int add_module(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    if (module_contains(info, &quipu_state))
        describe(info);
    return 0;
}

/* Describes a module of the process that records. */
static int add_modules(struct dl_phdr_info *info, size_t size, void *data) {
    const struct quipu_state *state = NULL;
    (void)size;
    (void)data;
    if (find_note(info, quipu_use_state, &state) && state->trace == trace)
        describe(info);
    return 0;
}

/* The process is a new one of the recording with CONTROL. Its other threads may see that at once.
 */
static void begin_process(struct quipu_trace_control *control) {
    trace->pid = (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0);
    trace->process = (uint32_t)__atomic_add_fetch(&control->processes, 1, __ATOMIC_RELAXED);
    trace->thread_count = 0;
    __atomic_store_n(&trace->control, control, __ATOMIC_RELEASE);
    if (!control->schedule)
        trace->times = NULL;
    else if (!trace->times) /* a child of fork has it */
        trace->times = quipu_trace_open_times(trace);
}

static void begin_recording(void) {
    const char *name = text_variable(environ, "QUIPU_TRACE=");
    struct text directory = {trace->directory, sizeof trace->directory, 0, false};
    trace->phase = TRACE_NONE;
    trace->environment = (uint64_t)environ; /* it may have moved to the heap */
    trace->pid = (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0);
    if (!name || !*name)
        return;
    text_add(&directory, name);
    struct quipu_trace_control *control = quipu_trace_open_control(trace);
    if (!control)
        return;
    begin_process(control);
    trace->phase = TRACE_ON;
    quipu_trace_watch_ends(trace);
}

/* Writes the directory of a recording of this process into TRACE. Returns whether there is one. */
static bool find_directory(void) {
    char path[sizeof QUIPU_TRACE_ATTACH + 20];
    struct text text = {path, sizeof path, 0, false};
    struct stat status = {0};
    text_add(&text, QUIPU_TRACE_ATTACH);
    text_number(&text, trace->pid);
    if (SYSTEM_CALL(lstat, path, &status, 0, 0, 0, 0) != 0 || !S_ISLNK(status.st_mode) ||
        (status.st_uid != 0 && status.st_uid != (uid_t)SYSTEM_CALL(geteuid, 0, 0, 0, 0, 0, 0)))
        return false;
    long length =
        SYSTEM_CALL(readlink, path, trace->directory, sizeof trace->directory - 1, 0, 0, 0);
    if (length <= 0)
        return false;
    trace->directory[length] = '\0';
    return true;
}

/* Looks for a recording that has begun meanwhile, and joins it. */
static void look_for_recording(void) {
    lock();
    bool idle =
        trace->phase == TRACE_NONE ||
        (trace->phase == TRACE_ON && __atomic_load_n(&trace->control->stopped, __ATOMIC_ACQUIRE));
    struct quipu_trace_control *control =
        idle && find_directory() ? quipu_trace_open_control(trace) : NULL;
    if (control && !__atomic_load_n(&control->stopped, __ATOMIC_ACQUIRE)) {
        begin_process(control);
        visit_modules(add_modules, NULL);
        quipu_trace_describe_libraries(trace);
        trace->ordered = true;
        __atomic_store_n(&trace->phase, TRACE_ON, __ATOMIC_RELEASE);
    }
    unlock();
}

/* Takes what another module has made, and finds where this module is. */
static int find_trace(struct dl_phdr_info *info, size_t size, void *data) {
    struct trace **found = data;
    const struct quipu_state *state = NULL;
    (void)size;
    if (module_contains(info, &quipu_state))
        quipu_state.bias = info->dlpi_addr;
    if (!*found && find_note(info, quipu_use_state, &state))
        *found = state->trace;
    return 0;
}

/* Joins the other modules of the process, or is the first one. Signals must be blocked. */
static void join(void) {
    struct trace *found = NULL;
    visit_modules(find_trace, &found);
    bool found_any = found;
    if (!found)
        found = map_memory(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
    trace = quipu_state.trace = found;
    quipu_state.counter = IS_LINKED(quipu_own_ticks) ? quipu_own_ticks : NULL;
    if (quipu_state.counter)
        trace->counts = true;
    lock();
    if (trace->phase == TRACE_UNKNOWN)
        begin_recording();
    if (trace->phase == TRACE_ON)
        visit_modules(add_module, NULL);
    if (trace->phase == TRACE_ON && !found_any)
        quipu_trace_describe_libraries(trace);
    unlock();
}

/* ---- threads ---- */

/* Returns the data of the calling thread, from another module, or of one that has ended. */
static struct thread *find_thread(uint32_t tid) {
    struct thread *dead = NULL;
    for (struct thread *thread = trace->threads; thread; thread = thread->next) {
        if (thread->tid == tid && thread->pointer == thread_pointer())
            return thread;
        if (!dead && SYSTEM_CALL(tgkill, trace->pid, thread->tid, 0, 0, 0, 0) == -ESRCH)
            dead = thread;
    }
    return dead;
}

/* THREAD, the calling one, has come to this module, and may count here already. */
static void add_own_counter(const struct thread *thread) {
    struct quipu_trace_counter now = {.bias = quipu_state.bias};
    if (thread->chunk && quipu_state.counter && quipu_state.counter(&now.begin, &now.thread))
        quipu_trace_add_counter(thread->chunk, now);
}

void quipu_trace_count_thread(uint32_t number) {
    const struct quipu_trace_thread *own = *quipu_trace_own();
    const struct thread *thread = (const struct thread *)own;
    if (own != &quipu_trace_unattached && thread->chunk)
        quipu_trace_add_counter(thread->chunk, (struct quipu_trace_counter){
                                                   .bias = quipu_state.bias, .thread = number});
}

static struct thread *attach(void) {
    uint32_t tid = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
    if (!trace)
        join();
    lock();
    struct thread *thread = find_thread(tid);
    if (!thread) {
        thread = map_memory(NULL, sizeof *thread, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        thread->next = trace->threads;
        trace->threads = thread;
    }
    if (thread->tid != tid || thread->pointer != thread_pointer()) {
        thread->tid = tid;
        thread->pointer = thread_pointer();
        thread->number = __atomic_add_fetch(&trace->thread_count, 1, __ATOMIC_RELAXED);
        thread->chunks = 0;
        thread->known.cursor = QUIPU_TRACE_FULL;
        quipu_trace_begin_order(trace, thread);
    }
    unlock();
    add_own_counter(thread);
    *quipu_trace_own() = &thread->known;
    return thread;
}

uint64_t quipu_trace_continue(uint64_t size, const struct full_frame *frame) {
    struct thread *thread = (struct thread *)*quipu_trace_own();
    if (&thread->known == &quipu_trace_unattached) {
        quipu_trace_unattached.cursor = QUIPU_TRACE_FULL;
        thread = attach();
    }
    uint64_t end = thread->known.cursor + size;
    if (end & QUIPU_TRACE_FULL) {
        if (thread->nowhere)
            look_for_recording();
        if (thread->inherits && thread->begins && frame) /* its ticket is in a chunk of its own */
            quipu_trace_write_begin(thread, quipu_trace_next_buffer(trace, thread, NULL));
        char *begin = quipu_trace_next_buffer(trace, thread, frame);
        if (thread->chunk && thread->chunk->start)
            thread->begins = false; /* its begin is not in the trace */
        end = (uint64_t)quipu_trace_write_begin(thread, begin) + size;
    }
    thread->known.cursor = end;
    return end;
}

uint64_t quipu_trace_make_room(uint64_t size, const uint64_t *base, const uint64_t *kept) {
    bool in_order =
        base[1] >= (uint64_t)quipu_trace_order && base[1] < (uint64_t)quipu_trace_order_end;
    bool at_record = !in_order && !quipu_trace_measured_site(base[0], (uint64_t)base);
    return quipu_trace_continue(size, at_record ? &(struct full_frame){base, kept} : NULL);
}

char *quipu_trace_add_record(struct thread *thread, uint64_t size) {
    if ((thread->known.cursor + size) & QUIPU_TRACE_FULL) {
        thread->known.cursor = QUIPU_TRACE_FULL;
        return (char *)quipu_trace_continue(size, NULL) - size;
    }
    thread->known.cursor += size;
    return (char *)thread->known.cursor - size;
}

/* ---- processes ---- */

/* The calling thread is about to fork. What it shares with the child is ordered from here on. */
static void prepare(void) {
    uint64_t mask = block_signals();
    if (trace && trace->phase == TRACE_ON) {
        lock();
        quipu_trace_order_all(trace);
        unlock();
    }
    restore_signals(mask);
}

/* The calling thread is the only one of the child, and must leave its parent's buffers. Each module
 * has this handler; the first one does it. */
static void child(void) {
    uint64_t mask = block_signals();
    if (trace && trace->pid != (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0)) {
        struct thread *own = NULL;
        for (struct thread *thread = trace->threads; thread; thread = thread->next) {
            quipu_trace_drop_buffers(thread);
            if (thread->pointer == thread_pointer())
                own = thread;
        }
        trace->lock = 0;
        trace->threads = own;
        if (trace->phase == TRACE_ON) {
            begin_process(trace->control);
            visit_modules(add_modules, NULL);
            quipu_trace_describe_libraries(trace);
        }
        if (own) {
            own->next = NULL;
            own->number = ++trace->thread_count;
            own->tid = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
            own->chunks = 0;
            own->inherits = true;
            own->known.cursor = QUIPU_TRACE_FULL;
            quipu_trace_begin_order(trace, own);
        }
    }
    restore_signals(mask);
}

void quipu_trace_start(void) {
    uint64_t mask = block_signals();
    bool asked = text_variable(environ, "QUIPU_TRACE=");
    if (!trace && asked)
        join();
    if (asked)
        quipu_trace_arm();
    restore_signals(mask);
    pthread_atfork(prepare, NULL, child);
}
