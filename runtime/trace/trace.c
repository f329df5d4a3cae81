/* trace.c: chunks of the trace file for the program's threads (format/trace.h).
 *
 * Inserted code calls it when a thread has no chunk, or no room in it. A chunk is mapped from the
 * file, so the kernel keeps what was recorded, whatever ends the process. Without a trace file
 * (QUIPU_TRACE) each thread writes into memory of its own, again and again.
 *
 * Invariants
 *   - A thread's cursor leads into its own chunk, or has the bit QUIPU_TRACE_FULL, so that the next
 *     record comes here.
 *   - A chunk stays mapped as long as interrupted code may write a record into it.
 *
 * Not perfect: a child of _Fork or of clone without CLONE_VM continues its parent's chunk. */
#include "format/trace.h"
#include "format/data_file.h"
#include "runtime/core/note.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <ucontext.h>

enum {
    ALIGNMENT = 2 * QUIPU_TRACE_FULL,
    FRAME_BEGIN = 4, /* offset of pushq %rbp in quipu_trace_full */
    CALL_SIZE = 5,
};

struct thread {
    struct quipu_trace_thread known; /* first: inserted code knows it */
    struct thread *next;             /* of all threads of the module */
    char *records;                   /* begin of the chunk's records; a multiple of ALIGNMENT */
    bool kept;                       /* interrupted code may write into the chunk */
    uint32_t tid, number, chunks;
    uint64_t pointer; /* the base of its %fs */
};

enum phase_of_trace {
    TRACE_NEW,  /* the environment has not been read */
    TRACE_ON,   /* `header` is the mapped begin of the trace file */
    TRACE_NONE, /* there is no file */
};

/* What the modules of a process share. It is in memory of its own, and outlives the module that has
 * made it. */
struct trace {
    uint32_t lock;
    uint32_t phase; /* enum phase_of_trace */
    struct quipu_trace_file *header;
    struct thread *threads;
    uint32_t process, pid, thread_count;
    char path[PATH_SIZE];
};

/* This module's. NULL: it has not joined the others. */
static struct trace *trace;

extern char **environ;

/* Of threads that have no chunk yet. They only add to it. */
struct quipu_trace_thread quipu_trace_unattached = {QUIPU_TRACE_FULL};

struct quipu_trace_thread **quipu_trace_own(void);
uint64_t quipu_trace_continue(uint64_t size);
void quipu_trace_interrupted(ucontext_t *context, const uint8_t *restorer);
void quipu_trace_resumed(void);
void quipu_trace_start(void);
extern const char quipu_trace_restorer[]; /* handler.S */
extern const char quipu_trace_full[], quipu_trace_changed[], quipu_trace_full_end[];

/* Threads hold it for a moment, with signals blocked. */
static void lock(void) {
    while (__atomic_exchange_n(&trace->lock, 1, __ATOMIC_ACQUIRE))
        SYSTEM_CALL(sched_yield, 0, 0, 0, 0, 0, 0);
}

static void unlock(void) {
    __atomic_store_n(&trace->lock, 0, __ATOMIC_RELEASE);
}

/* ---- the file ---- */

/* Returns the offset of a new chunk in the file, or 0. */
static uint64_t add_chunk(int fd) {
    struct quipu_trace_file *header = trace->header;
    uint64_t offset = __atomic_fetch_add(&header->size, QUIPU_TRACE_CHUNK, __ATOMIC_RELAXED);
    if ((header->limit && offset + QUIPU_TRACE_CHUNK > header->limit) ||
        SYSTEM_CALL(fallocate, fd, 0, offset, QUIPU_TRACE_CHUNK, 0, 0) < 0) {
        __atomic_fetch_or(&header->flags, QUIPU_TRACE_LOST, __ATOMIC_RELAXED);
        return 0;
    }
    return offset;
}

/* Maps a new chunk at ADDRESS. NULL: anywhere. Returns its begin, or an error. */
static struct quipu_trace_chunk *map_chunk(void *address) {
    long fd = SYSTEM_CALL(openat, AT_FDCWD, trace->path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return (void *)fd;
    uint64_t offset = add_chunk((int)fd);
    struct quipu_trace_chunk *chunk = (void *)(long)-ENOSPC;
    if (offset)
        chunk = map_memory(address, QUIPU_TRACE_CHUNK, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_POPULATE | (address ? MAP_FIXED : 0), (int)fd, offset);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return chunk;
}

static void describe_module(struct dl_phdr_info *info) {
    struct quipu_trace_chunk *chunk = map_chunk(NULL);
    if (is_error(chunk))
        return;
    struct text path = {(char *)(chunk + 1), PATH_SIZE, 0, false};
    chunk->process = trace->process;
    chunk->pid = trace->pid;
    chunk->begin = info->dlpi_addr;
    module_build_id(info, chunk->build_id);
    if (info->dlpi_name && info->dlpi_name[0])
        text_add(&path, info->dlpi_name);
    else
        quipu_program_path(path.data, path.size);
    __atomic_store_n(&chunk->kind, QUIPU_TRACE_MODULE, __ATOMIC_RELEASE);
    SYSTEM_CALL(munmap, chunk, QUIPU_TRACE_CHUNK, 0, 0, 0, 0);
}

/* Describes this module. */
static int add_module(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    if (module_contains(info, &quipu_state))
        describe_module(info);
    return 0;
}

/* Describes a module of the process that records. */
static int add_modules(struct dl_phdr_info *info, size_t size, void *data) {
    const struct quipu_state *state = NULL;
    (void)size;
    (void)data;
    if (find_note(info, quipu_use_state, &state) && state->trace == trace)
        describe_module(info);
    return 0;
}

static void begin_process(void) {
    trace->pid = (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0);
    trace->process = (uint32_t)__atomic_add_fetch(&trace->header->processes, 1, __ATOMIC_RELAXED);
    trace->thread_count = 0;
}

static void open_file(void) {
    const char *name = text_variable(environ, "QUIPU_TRACE=");
    struct text path = {trace->path, sizeof trace->path, 0, false};
    trace->phase = TRACE_NONE;
    if (!name || !*name)
        return;
    text_add(&path, name);
    long fd = SYSTEM_CALL(openat, AT_FDCWD, trace->path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return;
    struct quipu_trace_file *header =
        map_memory(NULL, QUIPU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    if (is_error(header) || !bytes_equal(header->magic, QUIPU_TRACE_MAGIC, sizeof header->magic) ||
        header->version != QUIPU_TRACE_VERSION)
        return;
    trace->header = header;
    begin_process();
    trace->phase = TRACE_ON;
}

/* Takes what another module has made. */
static int find_trace(struct dl_phdr_info *info, size_t size, void *data) {
    struct trace **found = data;
    const struct quipu_state *state = NULL;
    (void)size;
    if (!*found && find_note(info, quipu_use_state, &state))
        *found = state->trace;
    return 0;
}

/* Joins the other modules of the process, or is the first one. Signals must be blocked. */
static void join(void) {
    struct trace *found = NULL;
    dl_iterate_phdr(find_trace, &found);
    if (!found)
        found = map_memory(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
    trace = quipu_state.trace = found;
    lock();
    if (trace->phase == TRACE_NEW)
        open_file();
    if (trace->phase == TRACE_ON)
        dl_iterate_phdr(add_module, NULL);
    unlock();
}

/* ---- threads ---- */

/* Reserves addresses for a chunk. Returns the begin of its records, or NULL. */
static char *reserve_addresses(void) {
    char *memory = map_memory(NULL, 2 * ALIGNMENT + QUIPU_PAGE, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return is_error(memory) ? NULL : (char *)round_up((uint64_t)memory + QUIPU_PAGE, ALIGNMENT);
}

/* Gives the thread memory that no file gets. */
static void map_nowhere(struct thread *thread) {
    map_memory(thread->records - QUIPU_PAGE, QUIPU_TRACE_CHUNK, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void begin_chunk(struct thread *thread) {
    if (!thread->records || thread->kept)
        thread->records = reserve_addresses();
    thread->kept = false;
    if (trace->phase != TRACE_ON) {
        if (thread->chunks++ == 0)
            map_nowhere(thread);
        return;
    }
    struct quipu_trace_chunk *chunk = map_chunk(thread->records - QUIPU_PAGE);
    if (is_error(chunk)) {
        map_nowhere(thread);
        return;
    }
    chunk->process = trace->process;
    chunk->pid = trace->pid;
    chunk->tid = thread->tid;
    chunk->thread = thread->number;
    chunk->number = thread->chunks++;
    chunk->begin = thread_pointer();
    __atomic_store_n(&chunk->kind, QUIPU_TRACE_RECORDS, __ATOMIC_RELEASE);
}

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

static struct thread *attach(void) {
    uint32_t tid = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
    if (!trace)
        join();
    lock();
    struct thread *thread = find_thread(tid);
    if (!thread) {
        thread = map_memory(NULL, QUIPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
        thread->next = trace->threads;
        trace->threads = thread;
    }
    if (thread->tid != tid || thread->pointer != thread_pointer()) {
        thread->tid = tid;
        thread->pointer = thread_pointer();
        thread->number = ++trace->thread_count;
        thread->chunks = 0;
        thread->known.cursor = QUIPU_TRACE_FULL;
    }
    unlock();
    *quipu_trace_own() = &thread->known;
    return thread;
}

uint64_t quipu_trace_continue(uint64_t size) {
    struct thread *thread = (struct thread *)*quipu_trace_own();
    bool attached = &thread->known != &quipu_trace_unattached;
    if (!attached) {
        quipu_trace_unattached.cursor = QUIPU_TRACE_FULL;
        thread = attach();
    }
    uint64_t end = thread->known.cursor + size;
    if (attached || end & QUIPU_TRACE_FULL) { /* otherwise another module has given it a chunk */
        begin_chunk(thread);
        end = (uint64_t)thread->records + size;
    }
    thread->known.cursor = end;
    return end;
}

/* ---- signal handlers ---- */

/* Whether the code is that to which the kernel lets handlers return: mov $15, %rax; syscall. */
static bool is_restorer(const uint8_t *code) {
    static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    return bytes_equal(code, restorer, sizeof restorer);
}

/* The registers of a context, as encoded. */
static const uint8_t context_registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                              REG_R12, REG_R13, REG_R14, REG_R15};

/* Whether CODE is an instruction of 64-bit registers with this opcode, and an operand in memory by
 * its base alone, or a displacement of SIZE bytes. Sets its registers. */
static bool is_record_part(const uint8_t *code, uint8_t opcode, unsigned size, unsigned *base,
                           unsigned *reg) {
    if ((code[0] & 0xfa) != 0x48 || code[1] != opcode)
        return false;
    *base = (code[2] & 7u) | (code[0] & 1u) << 3;
    *reg = (code[2] >> 3 & 7u) | (code[0] & 4u) << 1;
    return code[2] >> 6 == (size == 0 ? 0 : size == 1 ? 1 : 2) && (*base & 6) != 4;
}

/* Returns the begin of the code movq (BASE), REG; leaq N(REG), REG; movq REG, (BASE), of which the
 * last instruction begins at STORE; or NULL. */
static const uint8_t *find_load(const uint8_t *store, unsigned *base, unsigned *reg) {
    unsigned other, same;
    if (!is_record_part(store, 0x89, 0, base, reg))
        return NULL;
    for (unsigned size = 1; size <= 4; size += 3) {
        const uint8_t *add = store - 3 - size;
        if (is_record_part(add, 0x8d, size, &other, &same) && other == *reg && same == *reg &&
            is_record_part(add - 3, 0x8b, 0, &other, &same) && other == *base && same == *reg)
            return add - 3;
    }
    return NULL;
}

/* Returns the size of the test of the cursor's bit at CODE, or 0. */
static unsigned test_size(const uint8_t *code) {
    static const uint8_t bit[] = {0, 0, QUIPU_TRACE_FULL >> 16, 0};
    unsigned prefix = code[0] == 0x41;
    code += prefix;
    if (code[0] == 0xa9 && bytes_equal(code + 1, bit, sizeof bit))
        return prefix + 5;
    return code[0] == 0xf7 && code[1] >> 3 == 0x18 && bytes_equal(code + 2, bit, sizeof bit)
               ? prefix + 6
               : 0;
}

/* If the thread was interrupted between the load of its cursor and its store, or found that there
 * is no room, moves it back to the load. */
static void restart_record(ucontext_t *context, struct thread *thread) {
    greg_t *registers = context->uc_mcontext.gregs;
    const uint8_t *at = (const void *)registers[REG_RIP];
    unsigned base, reg;
    const uint8_t *stores[] = {at, at + 4, at + 7};
    for (int i = 0; i < 3; i++) { /* in front of the store, or of the addition */
        const uint8_t *load = find_load(stores[i], &base, &reg);
        if (load && load < at && (uint64_t)registers[context_registers[base]] == (uint64_t)thread) {
            registers[REG_RIP] = (greg_t)load;
            return;
        }
    }
    if (!(thread->known.cursor & QUIPU_TRACE_FULL))
        return;
    const uint8_t *tests[] = {at, at - 7, at - 6, at - 5};
    for (int i = 0; i < 4; i++) { /* in front of the test, or of the jump */
        unsigned size = test_size(tests[i]);
        const uint8_t *load =
            size && (i == 0 || tests[i] + size == at) ? find_load(tests[i] - 3, &base, &reg) : NULL;
        if (load && (uint64_t)registers[context_registers[base]] == (uint64_t)thread) {
            thread->known.cursor = QUIPU_TRACE_FULL;
            registers[REG_RIP] = (greg_t)load;
            return;
        }
    }
}

/* Returns the address at which the program itself was interrupted: if that is in quipu_trace_full,
 * the call of it while the record is not there yet, or else the instruction behind that call. */
static uint64_t program_address(const ucontext_t *context) {
    const greg_t *registers = context->uc_mcontext.gregs;
    uint64_t at = (uint64_t)registers[REG_RIP];
    uint64_t first = (uint64_t)quipu_trace_full, last = (uint64_t)quipu_trace_full_end;
    if (at < first || at >= last)
        return at;
    const uint64_t *stack = (const void *)registers[REG_RSP];
    uint64_t back = ((const uint64_t *)registers[REG_RBP])[1];
    if (at == last - 1 || at - first <= FRAME_BEGIN)
        back = stack[0];
    else if (at - first <= FRAME_BEGIN + 1)
        back = stack[1];
    return at < (uint64_t)quipu_trace_changed ? back - CALL_SIZE : back;
}

/* Makes room for a record of SIZE bytes at the thread's cursor. */
static void make_room(struct thread *thread, uint64_t size) {
    if (thread->known.cursor + size < (uint64_t)thread->records + QUIPU_TRACE_FULL)
        return;
    begin_chunk(thread);
    thread->known.cursor = (uint64_t)thread->records;
}

static void put(char *to, uint64_t value) {
    for (int i = 0; i < 8; i++)
        to[i] = (char)(value >> 8 * i);
}

void quipu_trace_interrupted(ucontext_t *context, const uint8_t *restorer) {
    struct thread *thread = (struct thread *)*quipu_trace_own();
    if (!is_restorer(restorer))
        return;
    if (&thread->known == &quipu_trace_unattached)
        return;
    uint64_t mask = block_signals();
    const greg_t *registers = context->uc_mcontext.gregs;
    restart_record(context, thread);
    for (int i = 0; i < 16; i++)
        thread->kept |= (uint64_t)registers[context_registers[i]] - (uint64_t)thread->records <
                        QUIPU_TRACE_FULL + QUIPU_TRACE_SLACK;
    make_room(thread, QUIPU_TRACE_HANDLER_SIZE);
    char *record = (char *)thread->known.cursor;
    record[0] = QUIPU_TRACE_HANDLER;
    put(record + 1, program_address(context));
    put(record + 9, (uint64_t)context - 8);
    thread->known.cursor += QUIPU_TRACE_HANDLER_SIZE;
    ((uint64_t *)context)[-1] = (uint64_t)quipu_trace_restorer; /* the return address */
    restore_signals(mask);
}

/* A handler returns. */
void quipu_trace_resumed(void) {
    struct thread *thread = (struct thread *)*quipu_trace_own();
    uint64_t mask = block_signals();
    make_room(thread, QUIPU_TRACE_RESUMED_SIZE);
    *(char *)thread->known.cursor = QUIPU_TRACE_RESUMED;
    thread->known.cursor += QUIPU_TRACE_RESUMED_SIZE;
    restore_signals(mask);
}

/* ---- processes ---- */

/* The calling thread is the only one of the child, and must leave its parent's chunk. Each module
 * has this handler; the first one does it. */
static void child(void) {
    uint64_t mask = block_signals();
    if (trace && trace->pid != (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0)) {
        struct thread *own = NULL;
        for (struct thread *thread = trace->threads; thread; thread = thread->next)
            if (thread->pointer == thread_pointer())
                own = thread;
        trace->lock = 0;
        trace->threads = own;
        if (trace->phase == TRACE_ON) {
            begin_process();
            dl_iterate_phdr(add_modules, NULL);
        }
        if (own) {
            own->next = NULL;
            own->number = ++trace->thread_count;
            own->tid = (uint32_t)SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0);
            own->chunks = 0;
            own->kept = true; /* the chunk is the parent's */
            own->known.cursor = QUIPU_TRACE_FULL;
        }
    }
    restore_signals(mask);
}

void quipu_trace_start(void) {
    if (!text_variable(environ, "QUIPU_TRACE="))
        return;
    uint64_t mask = block_signals();
    if (!trace)
        join();
    restore_signals(mask);
    pthread_atfork(NULL, NULL, child);
}
