/* log.c: writes hits into the ring of the watch file.
 *
 * Many threads of many processes write, and one process reads. A writer reserves bytes by advancing
 * the head, if they are free. It fills in the record, and sets its size last. While it waits for
 * room or for an answer, it holds no lock.
 *
 * Not perfect: a signal may arrive between reservation and size, and its handler may leave by
 * longjmp. Then the record is never completed, and the consumer skips it (src/watch/ring.c).
 * Blocking signals costs more than the rest of a hit, so it is done only where much is copied.
 * Otherwise the window is some twenty instructions. */
#include "runtime/core/note.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <time.h>

enum {
    NAP = 50 * 1000,         /* nanoseconds, while the ring is full */
    FEW = 96,                /* bytes of a region that most hits show */
    LOOK_UP = 100 * 1000000, /* nanoseconds between tests whether the consumer still runs */
};

static uint8_t *ring_at(struct quipu_watch_file *file, uint64_t at) {
    return (uint8_t *)file + file->ring_offset + (at & (file->ring_size - 1));
}

/* An ended process keeps its number until its parent has waited for it, but has no memory. */
static bool has_ended(uint32_t process) {
    uint8_t byte;
    struct iovec here = {&byte, sizeof byte}, nowhere = {NULL, sizeof byte};
    return SYSTEM_CALL(kill, process, 0, 0, 0, 0, 0) == -ESRCH ||
           SYSTEM_CALL(process_vm_readv, process, &here, 1, &nowhere, 1, 0) == -ESRCH;
}

bool quipu_watch_is_read(const struct quipu_watch_file *file) {
    struct watch *watch = WATCH;
    uint32_t consumer = file->consumer;
    if (watch->consumer_gone || !consumer || file != watch->file)
        return false;
    if (has_ended(consumer))
        watch->consumer_gone = consumer;
    return !watch->consumer_gone;
}

void quipu_watch_publish(struct quipu_record *record, uint32_t size, uint32_t kind) {
    struct quipu_watch_file *file =
        WATCH->file; /* may be a newer file: then its consumer is woken */
    record->kind = kind;
    __atomic_store_n(&record->size, size, __ATOMIC_SEQ_CST);
    if (file && __atomic_load_n(&file->waiting, __ATOMIC_SEQ_CST) &&
        __atomic_exchange_n(&file->waiting, 0, __ATOMIC_SEQ_CST))
        SYSTEM_CALL(futex, &file->waiting, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Reserves SIZE bytes, and the rest of the ring before its end if they do not fit there. Returns
 * NULL if there is no room. */
static struct quipu_record *take_room(struct quipu_watch_file *file, uint32_t size) {
    uint64_t head = __atomic_load_n(&file->head, __ATOMIC_RELAXED), pad;
    do {
        uint64_t rest = file->ring_size - (head & (file->ring_size - 1));
        pad = rest < size ? rest : 0;
        if (head + pad + size - __atomic_load_n(&file->tail, __ATOMIC_ACQUIRE) > file->ring_size)
            return NULL;
    } while (!__atomic_compare_exchange_n(&file->head, &head, head + pad + size, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    if (pad)
        quipu_watch_publish((struct quipu_record *)ring_at(file, head), (uint32_t)pad,
                            QUIPU_RECORD_PAD);
    return (struct quipu_record *)ring_at(file, head + pad);
}

struct quipu_record *quipu_watch_reserve(struct quipu_watch_file *file, uint32_t size,
                                         uint64_t *mask) {
    const struct timespec nap = {0, NAP};
    if (!file || size > file->ring_size || WATCH->consumer_gone)
        return NULL;
    for (;;) {
        if (mask)
            *mask = block_signals();
        struct quipu_record *record = take_room(file, size);
        if (record) {
            record->pid = quipu_watch_pid();
            record->thread = quipu_watch_thread(record->pid);
            return record;
        }
        if (mask)
            restore_signals(*mask);
        if (!quipu_watch_is_read(file))
            return NULL;
        SYSTEM_CALL(nanosleep, &nap, NULL, 0, 0, 0, 0);
    }
}

/* ---- Answers ---- */

/* Whether the consumer has already passed the hit: then there will be no answer. */
static bool is_passed(struct quipu_watch_file *file, const struct quipu_hit *hit) {
    uint64_t at = (uint64_t)((const uint8_t *)hit - ring_at(file, 0));
    uint64_t tail = __atomic_load_n(&file->tail, __ATOMIC_ACQUIRE) & (file->ring_size - 1);
    uint64_t used = (__atomic_load_n(&file->head, __ATOMIC_ACQUIRE) & (file->ring_size - 1)) - tail;
    return ((at - tail) & (file->ring_size - 1)) >= (used & (file->ring_size - 1)) &&
           __atomic_load_n(&hit->record.size, __ATOMIC_ACQUIRE) == 0;
}

static uint32_t wait_for_answer(struct quipu_watch_file *file, struct quipu_hit *hit) {
    const struct timespec look_up = {0, LOOK_UP};
    uint32_t answer;
    while (!(answer = __atomic_load_n(&hit->answer, __ATOMIC_ACQUIRE))) {
        if (!quipu_watch_is_read(file) || is_passed(file, hit))
            return QUIPU_ANSWER_GO_ON;
        SYSTEM_CALL(futex, &hit->answer, FUTEX_WAIT, 0, &look_up, NULL, 0);
    }
    __atomic_fetch_or(&hit->answer, QUIPU_ANSWER_TAKEN, __ATOMIC_ACQ_REL);
    SYSTEM_CALL(futex, &hit->answer, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    return answer;
}

/* Ends the process, whatever its handling of SIGABRT is. */
static void end_process(void) {
    struct {
        uint64_t handler, flags, restorer, mask;
    } plain = {0, 0, 0, 0};
    uint64_t aborting = (uint64_t)1 << (SIGABRT - 1);
    SYSTEM_CALL(rt_sigaction, SIGABRT, &plain, NULL, sizeof plain.mask, 0, 0);
    SYSTEM_CALL(rt_sigprocmask, SIG_UNBLOCK, &aborting, NULL, sizeof aborting, 0, 0);
    raise_signal(SIGABRT);
}

static void follow(uint32_t answer, uint32_t cause) {
    if (answer & QUIPU_ANSWER_LOOK)
        quipu_watch_look_at_requests();
    if (answer & QUIPU_ANSWER_TRAP)
        quipu_watch_trap(cause);
    if (answer & QUIPU_ANSWER_END)
        end_process();
}

/* ---- Allowed writers ---- */

/* This module's number in the file; in the upper half, the number of the file. */
static uint64_t own_number;

/* Threads that come here at the same time get the same number. */
static uint32_t take_number(struct quipu_watch_file *file) {
    uint64_t which = (uint64_t)WATCH->file_number << 32;
    uint64_t own = __atomic_load_n(&own_number, __ATOMIC_ACQUIRE);
    if (own >> 32 << 32 != which) {
        uint64_t taken = which | (__atomic_fetch_add(&file->modules, 1, __ATOMIC_RELAXED) + 1);
        if (__atomic_compare_exchange_n(&own_number, &own, taken, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            own = taken;
    }
    return (uint32_t)own;
}

/* Whether PC is an allowed writer. The caller has read FILE before. If it was replaced meanwhile,
 * the new one has no entries, or this module has no number in it yet. */
static bool is_allowed(const struct quipu_watch_file *file, uint64_t pc) {
    const struct quipu_allowed_writer *writers =
        (const struct quipu_allowed_writer *)((const uint8_t *)file + file->allowed_offset);
    uint64_t own = __atomic_load_n(&own_number, __ATOMIC_ACQUIRE);
    uint64_t place = quipu_allowed_place((uint32_t)own, pc);
    if (own >> 32 != WATCH->file_number || !file->allowed_count)
        return false;
    for (unsigned i = 0; i < QUIPU_ALLOWED_TRIES; i++) {
        const struct quipu_allowed_writer *writer =
            &writers[(place + i) & (file->allowed_count - 1)];
        uint32_t module = __atomic_load_n(&writer->module, __ATOMIC_ACQUIRE);
        if (!module)
            return false;
        if (module == (uint32_t)own && writer->pc == pc)
            return true;
    }
    return false;
}

/* ---- Hits ---- */

static uint64_t round_to_8(uint64_t size) {
    return (size + 7) & -(uint64_t)8;
}

static void describe(struct quipu_hit *hit, const struct watch_region *region,
                     const struct watch_write *write, const struct watch_window *window) {
    hit->request = (uint32_t)region->argument;
    hit->cause = (uint16_t)write->cause;
    hit->flags = quipu_watch_is_exact(region, write) ? 0 : QUIPU_HIT_BEHIND;
    if (quipu_watch_is_doubted(write))
        hit->flags |= (uint8_t)(QUIPU_HIT_UNDECIDED | (write->suspects->more ? QUIPU_HIT_MORE : 0));
    hit->candidates = write->suspects ? (uint8_t)write->suspects->count : 0;
    hit->pc = write->pc;
    hit->address = write->address;
    hit->length = write->length;
    hit->region = region->address;
    hit->offset = window->from - region->address;
    hit->told = window->count;
    hit->ticks = 0;
    hit->moment_thread = 0;
    if (IS_LINKED(quipu_moment_at))
        quipu_moment_at(write->place, &hit->ticks, &hit->moment_thread);
}

/* Returns the size of a record that shows ROOM bytes twice. */
static uint32_t size_of_hit(const struct watch_region *region, uint64_t room) {
    uint64_t block = region->flags & WATCH_BLOCK ? sizeof(struct quipu_block) : 0;
    return (uint32_t)(sizeof(struct quipu_hit) + 2 * room + block);
}

/* Fills in the bytes from OLD on. Returns whether the write is to be reported. */
static bool fill(uint32_t index, const struct watch_region *region, const struct watch_write *write,
                 struct watch_window *window, uint8_t *old) {
    uint64_t room = round_to_8(window->count);
    return quipu_watch_fill(index, region, write, window, old, old + room) &&
           (!(region->flags & WATCH_BLOCK) ||
            quipu_watch_describe_block(index, region, (struct quipu_block *)(old + 2 * room)));
}

/* Stores the other calls that may have made the change at PLACE. Returns their size in bytes. */
static uint32_t name_candidates(const struct watch_write *write, uint8_t *place) {
    struct quipu_candidate *candidates = (struct quipu_candidate *)place;
    uint32_t count = write->suspects ? write->suspects->count : 0;
    for (uint32_t i = 0; i < count; i++)
        candidates[i] =
            (struct quipu_candidate){quipu_watch_place_of_call(write->suspects->calls[i].stub,
                                                               write->suspects->calls[i].told),
                                     write->suspects->calls[i].tid, 0};
    return count * (uint32_t)sizeof *candidates;
}

/* Gets the bytes before it reserves the record. A write by an ALLOWED writer is reported only if it
 * may be another's. */
static struct quipu_hit *log_few(struct quipu_watch_file *file, uint32_t index,
                                 const struct watch_region *region, const struct watch_write *write,
                                 struct watch_window *window, bool allowed) {
    uint64_t bytes[(2 * FEW + sizeof(struct quipu_block) +
                    QUIPU_CANDIDATES_MAX * sizeof(struct quipu_candidate)) /
                   sizeof(uint64_t)];
    uint32_t size = size_of_hit(region, round_to_8(window->count));
    if (!fill(index, region, write, window, (uint8_t *)bytes) ||
        (allowed && !quipu_watch_is_doubted(write)))
        return NULL;
    size += name_candidates(write, (uint8_t *)bytes + size - sizeof(struct quipu_hit));
    struct quipu_hit *hit = (struct quipu_hit *)quipu_watch_reserve(file, size, NULL);
    if (!hit)
        return NULL;
    describe(hit, region, write, window);
    copy_bytes(hit + 1, bytes, size - sizeof *hit);
    quipu_watch_publish(&hit->record, size, QUIPU_RECORD_HIT);
    return hit;
}

/* Stores the bytes directly into the record. */
static struct quipu_hit *log_many(struct quipu_watch_file *file, uint32_t index,
                                  const struct watch_region *region,
                                  const struct watch_write *write, struct watch_window *window,
                                  bool allowed) {
    uint64_t mask;
    uint32_t named = size_of_hit(region, round_to_8(window->count));
    uint32_t size =
        named + (write->suspects ? QUIPU_CANDIDATES_MAX * sizeof(struct quipu_candidate) : 0);
    struct quipu_hit *hit = (struct quipu_hit *)quipu_watch_reserve(file, size, &mask);
    if (!hit)
        return NULL;
    bool tell = fill(index, region, write, window, (uint8_t *)(hit + 1)) &&
                !(allowed && !quipu_watch_is_doubted(write));
    name_candidates(write, (uint8_t *)hit + named);
    describe(hit, region, write, window);
    quipu_watch_publish(&hit->record, size, tell ? QUIPU_RECORD_HIT : QUIPU_RECORD_PAD);
    restore_signals(mask);
    return tell ? hit : NULL;
}

/* Updates the region's copy as a report of the write would have done. */
static void pass_over(uint32_t index, const struct watch_region *region,
                      const struct watch_write *write, const struct watch_window *window) {
    uint8_t bytes[2 * FEW];
    uint64_t from = greater(write->address, window->from);
    uint64_t end = lesser(write->address + write->length, window->from + window->count);
    do {
        struct watch_window part = {from, lesser(end - from, FEW)};
        from += part.count;
        quipu_watch_fill(index, region, write, &part, bytes, bytes + FEW);
    } while (write->pair && from < end); /* without a pair, the first call updates the whole copy */
}

void quipu_watch_log(uint32_t index, const struct watch_region *region,
                     const struct watch_write *write, struct watch_window window) {
    /* the region's file, or a later one: then the region is gone */
    struct quipu_watch_file *file = __atomic_load_n(&WATCH->file, __ATOMIC_ACQUIRE);
    if (!file)
        return;
    bool allowed = region->flags & QUIPU_REQUEST_GUARDED && is_allowed(file, write->pc);
    if (allowed && !write->suspects) {
        pass_over(index, region, write, &window);
        return;
    }
    quipu_watch_announce();
    struct quipu_hit *hit = window.count <= FEW
                                ? log_few(file, index, region, write, &window, allowed)
                                : log_many(file, index, region, write, &window, allowed);
    if (!hit || !(region->flags & QUIPU_REQUEST_WAITS))
        return;
    quipu_watch_let_go(write->hold);
    follow(wait_for_answer(file, hit), write->cause);
}

/* ---- Modules ---- */

struct found_module {
    struct quipu_module_record record;
    const char *name;
    bool found;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct found_module *module = data;
    struct quipu_module_record *record = &module->record;
    (void)size;
    if (!module_contains(info, &quipu_watch_ready))
        return 0;
    record->bias = info->dlpi_addr;
    record->begin = UINT64_MAX;
    record->end = 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uint64_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            record->begin = lesser(record->begin, begin);
            record->end = greater(record->end, begin + info->dlpi_phdr[i].p_memsz);
        }
    record->build_id_size = find_build_id(info, record->build_id);
    module->name = info->dlpi_name;
    module->found = true;
    return 1;
}

/* The executable has no name in the list. The kernel knows its path. */
static uint32_t find_name(const char *name, char *path, uint32_t size) {
    if (!*name) {
        long length = SYSTEM_CALL(readlink, "/proc/self/exe", path, size - 1, 0, 0, 0);
        path[length > 0 ? length : 0] = '\0';
        const char *started = (const char *)getauxval(AT_EXECFN);
        struct text text = {path, size, 0, false};
        if (length <= 0 && started) /* without /proc */
            text_add(&text, started);
    } else {
        struct text text = {path, size, 0, false};
        text_add(&text, name);
    }
    return (uint32_t)text_length(path) + 1;
}

/* Not inlined, because name and path take much stack. */
static __attribute__((noinline)) void write_module(struct quipu_watch_file *file) {
    struct found_module module;
    char path[1024];
    uint64_t mask;
    module.found = false;
    dl_iterate_phdr(find_module, &module);
    if (!module.found)
        return;
    module.record.number = take_number(file);
    module.record.name_size = find_name(module.name, path, sizeof path);
    module.record.reserved = 0;
    uint32_t size = (uint32_t)round_to_8(sizeof module.record + module.record.name_size);
    struct quipu_record *record = quipu_watch_reserve(file, size, &mask);
    if (!record)
        return;
    copy_bytes(record + 1, &module.record.record + 1, sizeof module.record - sizeof *record);
    copy_bytes((uint8_t *)record + sizeof module.record, path, module.record.name_size);
    quipu_watch_publish(record, size, QUIPU_RECORD_MODULE);
    restore_signals(mask);
}

void quipu_watch_announce(void) {
    static uint64_t announced; /* process and file in which this module was reported */
    struct quipu_watch_file *file = WATCH->file;
    uint64_t here = quipu_watch_pid() | (uint64_t)WATCH->file_number << 32;
    if (file && __atomic_load_n(&announced, __ATOMIC_ACQUIRE) != here &&
        __atomic_exchange_n(&announced, here, __ATOMIC_ACQ_REL) != here)
        write_module(file);
}
