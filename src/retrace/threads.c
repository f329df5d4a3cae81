/* threads.c: the memory of threads that record, and their chunks; see state.h.
 *
 * The kernel maps it into the replayed process as shared memory, at an address that no program
 * uses, so it is here, too, whatever becomes of the process. The layout is that of runtime/trace:
 * records, which end where a bit of the address is set, and the thread's data. Each thread has one
 * buffer, which is emptied at once.
 *
 * The program can write to all that, so nothing there is trusted.
 *
 * Not perfect: a program that has mapped something at these addresses is not traced. */
#include "retrace/state.h"

#include "format/cells.h"
#include "format/event.h"
#include "tracee/tracee.h"
#include "x86/call_stop.h"
#include "x86/registers.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    DATA = 0x44000,      /* where the thread's data is behind the begin of its records */
    PLACE_SIZE = 0x50000 /* of all of it */
};

#define PLACES_BEGIN  ((uint64_t)0x2e0000000000)
#define PLACE_TO_NEXT ((uint64_t)2 * QUIPU_TRACE_FULL)
#define CONTROL       (PLACES_BEGIN - PAGE)

_Static_assert((int)DATA >= (int)QUIPU_TRACE_RECORDS_MAX, "the records have room");
_Static_assert((int)DATA + (int)QUIPU_TRACE_LAST_VALUES + 8 * (int)QUIPU_TRACE_LAST_COUNT + PAGE <=
                   (int)PLACE_SIZE,
               "the data has room");

/* ---- memory ---- */

/* Adds SIZE bytes to the shared memory. Sets HERE to where they are mapped. Returns where they
 * begin. */
static uint64_t add_memory(struct retrace *retrace, size_t size, void **here) {
    uint64_t begin = retrace->size;
    int file = player_shared(retrace->player);
    retrace->size += size;
    *here = MAP_FAILED;
    if (ftruncate(file, (off_t)retrace->size) == 0)
        *here = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)begin);
    if (*here == MAP_FAILED)
        end_retrace(retrace, "no memory for the records of a thread");
    return begin;
}

/* Maps SIZE bytes of the shared memory, from BEGIN on, in the process that plays. */
static void map_there(struct retrace *retrace, uint64_t address, size_t size, uint64_t begin,
                      int how) {
    const uint64_t arguments[6] = {address,
                                   size,
                                   PROT_READ | PROT_WRITE,
                                   (uint64_t)(MAP_SHARED | how),
                                   (uint64_t)player_shared(retrace->player),
                                   begin};
    if (retrace->wrong)
        return;
    int64_t result = inject_first_call(player_process(retrace->player), SYS_mmap, arguments);
    if (result != (int64_t)address)
        end_retrace(retrace, "the program has no room for the records of its threads");
}

static void need_control(struct retrace *retrace) {
    void *here;
    if (retrace->process->has_control)
        return;
    if (!retrace->control) {
        (void)add_memory(retrace, PAGE, &here);
        if (retrace->wrong)
            return;
        retrace->control = here;
    }
    map_there(retrace, CONTROL, PAGE, player_shared_end(), MAP_FIXED_NOREPLACE);
    retrace->process->has_control = true;
}

/* ---- threads ---- */

struct retraced_thread *find_thread(const struct retrace *retrace) {
    struct user_regs_struct registers;
    if (!get_general_registers(player_process(retrace->player), &registers))
        return NULL;
    for (struct retraced_thread *at = retrace->threads; at; at = at->next)
        if (at->process == retrace->process && at->pointer == registers.fs_base)
            return at;
    return NULL;
}

/* All sites take tickets as soon as others may share memory with the threads. */
static void order_all(struct retrace *retrace) {
    for (struct retraced_thread *at = retrace->threads; at; at = at->next)
        at->known->ordered = 1;
}

/* Adds a thread whose records are at ADDRESS of the process. HOW: of mmap. */
static struct retraced_thread *add_thread(struct retrace *retrace, uint64_t address,
                                          uint64_t pointer, int how) {
    void *here;
    need_control(retrace);
    uint64_t begin = add_memory(retrace, PLACE_SIZE, &here);
    map_there(retrace, address, PLACE_SIZE, begin, how);
    if (retrace->wrong)
        return NULL;
    struct retraced_thread *thread = ARENA_NEW(retrace->arena, struct retraced_thread);
    *thread = (struct retraced_thread){
        .next = retrace->threads,
        .process = retrace->process,
        .recorded = player_thread(retrace->player),
        .pointer = pointer,
        .address = address,
        .records = here,
        .known = (struct quipu_trace_thread *)(void *)((char *)here + DATA),
        .number = ++retrace->process->threads,
        .begins = true,
    };
    retrace->threads = thread;
    thread->known->cursor = QUIPU_TRACE_FULL;
    thread->known->tickets = (uint64_t *)(CONTROL + offsetof(struct quipu_trace_control, tickets));
    if (thread->number > 1 || retrace->process->place > 1)
        order_all(retrace);
    return thread;
}

/* A thread whose storage is used again has ended. */
static struct retraced_thread *find_living(const struct retrace *retrace) {
    struct retraced_thread *thread = find_thread(retrace);
    if (!thread || thread->recorded == player_thread(retrace->player))
        return thread;
    thread->pointer = 0;
    return NULL;
}

struct retraced_thread *attach_thread(struct retrace *retrace, const struct retraced_module *module,
                                      const struct user_regs_struct *registers) {
    static const uint64_t full = QUIPU_TRACE_FULL;
    pid_t process = player_process(retrace->player);
    uint64_t word = thread_word_at(&module->data_word, process, registers->fs_base), data = 0;
    read_memory(process, word, &data, sizeof data);
    if (data != module->unattached)
        return find_thread(retrace);
    struct retraced_thread *thread = find_living(retrace);
    if (!thread)
        thread = add_thread(retrace, PLACES_BEGIN + PLACE_TO_NEXT * retrace->places++,
                            registers->fs_base, MAP_FIXED_NOREPLACE);
    if (!thread)
        return NULL;
    data = thread->address + DATA;
    if (!write_data(process, word, &data, sizeof data) ||
        !write_data(process, module->unattached, &full, sizeof full))
        end_retrace(retrace, "a thread's memory cannot be written");
    return thread;
}

void inherit_thread(struct retrace *retrace) {
    struct user_regs_struct registers;
    pid_t process = player_process(retrace->player);
    if (!get_general_registers(process, &registers))
        return;
    for (size_t i = 0; i < retrace->process->modules.count; i++) {
        uint64_t word = thread_word_at(&retrace->process->modules.data[i]->data_word, process,
                                       registers.fs_base);
        uint64_t data = 0;
        if (!read_memory(process, word, &data, sizeof data) ||
            data - PLACES_BEGIN >= PLACE_TO_NEXT * retrace->places)
            continue;
        retrace->process->has_control = true;
        struct retraced_thread *thread =
            add_thread(retrace, data - DATA, registers.fs_base, MAP_FIXED);
        if (thread)
            thread->inherits = true;
        return;
    }
}

/* ---- counters ---- */

/* Sets COUNTER to that of THREAD in MODULE. Returns false if it has none. */
static bool read_trace_counter(const struct retraced_thread *thread, pid_t process,
                               const struct retraced_module *module,
                               struct quipu_trace_counter *counter) {
    uint64_t distance = 0, cells[QUIPU_MANY_LANES];
    struct {
        uint64_t begin, base, thread;
    } tail;
    uint64_t word = thread_word_at(&module->bias_word, process, thread->pointer);
    if (!module->cells || !read_memory(process, word, &distance, sizeof distance) ||
        distance == QUIPU_UNATTACHED)
        return false;
    uint64_t block = module->cells + distance;
    if (!read_memory(process, block + QUIPU_EVENT_BEGIN, &tail, sizeof tail) ||
        !read_memory(process, block + 8 * quipu_first_cell(QUIPU_EVENT_TICKS), cells, sizeof cells))
        return false;
    *counter = (struct quipu_trace_counter){
        .bias = module->bias, .begin = tail.base - tail.begin, .thread = (uint32_t)tail.thread};
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        counter->begin += cells[lane];
    return true;
}

static struct quipu_trace_counter *find_counter(struct retraced_thread *thread, uint64_t bias) {
    for (uint32_t i = 0; i < thread->chunk.counters; i++)
        if (thread->counters[i].bias == bias)
            return &thread->counters[i];
    return NULL;
}

static void add_counter(struct retraced_thread *thread, struct quipu_trace_counter counter) {
    if (thread->chunk.counters < QUIPU_TRACE_COUNTERS_MOST && !find_counter(thread, counter.bias))
        thread->counters[thread->chunk.counters++] = counter;
}

void note_counter(struct retraced_thread *thread, const struct retraced_module *module,
                  uint32_t number) {
    if (thread->fills)
        add_counter(thread, (struct quipu_trace_counter){.bias = module->bias, .thread = number});
}

/* The chunk begins, or ENDS. */
static void read_counters(struct retrace *retrace, struct retraced_thread *thread, bool ends) {
    pid_t process = player_process(retrace->player);
    for (size_t i = 0; i < thread->process->modules.count; i++) {
        struct quipu_trace_counter now;
        if (!read_trace_counter(thread, process, thread->process->modules.data[i], &now))
            continue;
        struct quipu_trace_counter *known = find_counter(thread, now.bias);
        if (ends && known)
            known->end = now.begin;
        else if (!ends)
            add_counter(thread, now);
    }
}

/* ---- chunks ---- */

void hand_over(struct retrace *retrace, struct retraced_thread *thread) {
    size_t size = QUIPU_TRACE_RECORDS_MAX, counters;
    if (!thread->fills)
        return;
    thread->fills = false;
    counters = quipu_trace_counters_size(&thread->chunk);
    for (uint32_t i = 0; i < thread->chunk.counters; i++) /* the last one is the first */
        memcpy(retrace->contents + i * sizeof *thread->counters,
               &thread->counters[thread->chunk.counters - 1 - i], sizeof *thread->counters);
    memcpy(retrace->contents + counters, thread->records, size);
    memset(thread->records, 0, size);
    sink_add(retrace->sink, &thread->chunk, retrace->contents, counters + size);
}

void find_environment(struct retrace *retrace) {
    struct user_regs_struct registers;
    struct retraced_process *process = retrace->process;
    uint64_t words = 0, behind = 1, size = sizeof words;
    for (const struct retraced_process *at = process->next; at; at = at->next)
        if (at->program == process->program && at->environment)
            process->environment = at->environment; /* it is a copy */
    if (process->environment || !get_general_registers(process->number, &registers) ||
        !read_memory(process->number, registers.rsp, &words, sizeof words) ||
        !read_memory(process->number, registers.rsp + (words + 1) * size, &behind, sizeof behind))
        return;
    if (behind == 0)
        process->environment = registers.rsp + (words + 2) * size;
}

/* Returns how much of the stack from ADDRESS on can be read, into BYTES. */
static size_t read_stack(const struct retraced_thread *thread, pid_t process, uint64_t address,
                         void *bytes) {
    uint64_t limit = thread->process->environment - address;
    size_t most = limit < QUIPU_TRACE_STACK_MOST ? limit : QUIPU_TRACE_STACK_MOST;
    struct iovec here = {bytes, most}, there = {(void *)address, most};
    ssize_t size = process_vm_readv(process, &here, 1, &there, 1, 0);
    return size > 0 ? (size_t)size & ~(size_t)7 : 0;
}

/* Describes the thread where its chunk begins. It has called quipu_trace_full with these registers.
 */
static uint32_t describe_start(struct retrace *retrace, struct retraced_thread *thread,
                               const struct user_regs_struct *registers) {
    pid_t process = player_process(retrace->player);
    uint64_t returns = 0, stack = registers->rsp + sizeof returns;
    if (!read_memory(process, registers->rsp, &returns, sizeof returns))
        return 0;
    struct quipu_trace_start start = {
        .address = returns,
        .registers = {registers->rax, registers->rcx, registers->rdx, registers->rbx, stack,
                      registers->rbp, registers->rsi, registers->rdi, registers->r8, registers->r9,
                      registers->r10, registers->r11, registers->r12, registers->r13,
                      registers->r14, registers->r15},
        .stack = read_stack(thread, process, stack, thread->records + sizeof start)};
    memcpy(thread->records, &start, sizeof start);
    return (uint32_t)(sizeof start + start.stack);
}

/* Begins a chunk. Returns the place of its first record. */
static uint64_t begin_chunk(struct retrace *retrace, struct retraced_thread *thread,
                            const struct user_regs_struct *registers) {
    struct quipu_trace_chunk *chunk = &thread->chunk;
    *chunk = (struct quipu_trace_chunk){
        .kind = QUIPU_TRACE_RECORDS,
        .process = thread->process->place,
        .pid = (uint32_t)thread->process->recorded,
        .tid = (uint32_t)thread->recorded,
        .thread = thread->number,
        .number = thread->chunks++,
        .begin = thread->pointer,
        .time = retrace->time,
        .address = thread->address,
    };
    if (registers && ((thread->inherits && !thread->begins) ||
                      (chunk->number && chunk->number % retrace->start_every == 0))) {
        chunk->start = describe_start(retrace, thread, registers);
        thread->inherits = false;
    }
    if (chunk->start || !chunk->number)
        memset((uint8_t *)thread->known + QUIPU_TRACE_LAST_VALUES, 0,
               QUIPU_TRACE_LAST_COUNT * sizeof(uint64_t));
    read_counters(retrace, thread, false);
    thread->fills = true;
    return chunk->start;
}

static uint64_t put_ticket(struct retrace *retrace, struct retraced_thread *thread, uint64_t at) {
    uint8_t *record = thread->records + at;
    uint64_t ticket = retrace->control->tickets++;
    record[0] = QUIPU_TRACE_ORDER;
    memset(record + 1, 0, sizeof(uint32_t));
    memcpy(record + 1 + sizeof(uint32_t), &ticket, sizeof ticket);
    return at + QUIPU_TRACE_ORDER_SIZE;
}

/* The thread's begin is a ticket, if it is in the trace. */
static uint64_t put_begin(struct retrace *retrace, struct retraced_thread *thread, uint64_t at) {
    if (!thread->begins)
        return at;
    thread->begins = false;
    return put_ticket(retrace, thread, at);
}

static uint64_t change_chunk(struct retrace *retrace, struct retraced_thread *thread,
                             const struct user_regs_struct *registers) {
    if (thread->fills) {
        read_counters(retrace, thread, true);
        thread->chunk.end = retrace->time;
    }
    hand_over(retrace, thread);
    return begin_chunk(retrace, thread, registers);
}

uint64_t reserve_record(struct retrace *retrace, struct retraced_thread *thread, uint64_t size,
                        const struct user_regs_struct *registers) {
    uint64_t end = thread->known->cursor + size;
    bool is_outside =
        end - size - thread->address > QUIPU_TRACE_FULL; /* the program has changed it */
    if (end & QUIPU_TRACE_FULL || is_outside) {
        if (thread->inherits && thread->begins &&
            registers) /* its ticket is in a chunk of its own */
            put_begin(retrace, thread, change_chunk(retrace, thread, NULL));
        uint64_t at = change_chunk(retrace, thread, registers);
        if (thread->chunk.start)
            thread->begins = false;
        end = thread->address + put_begin(retrace, thread, at) + size;
    }
    return thread->known->cursor = end;
}

uint8_t *add_record(struct retrace *retrace, struct retraced_thread *thread, uint64_t size) {
    if ((thread->known->cursor + size) & QUIPU_TRACE_FULL)
        thread->known->cursor = QUIPU_TRACE_FULL;
    uint64_t end = reserve_record(retrace, thread, size, NULL);
    return thread->records + (end - size - thread->address);
}

void write_ticket(struct retrace *retrace, struct retraced_thread *thread) {
    uint8_t *record = add_record(retrace, thread, QUIPU_TRACE_ORDER_SIZE);
    put_ticket(retrace, thread, (uint64_t)(record - thread->records));
}
