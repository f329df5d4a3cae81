/* ring.c: the ring of the watch file: records are reserved and completed; each module announces
 * itself, and gets a number in the file.
 *
 * Many threads of many processes write, and one process reads. A writer reserves bytes by advancing
 * the head, if they are free. It fills in the record, and sets its size last. While it waits for
 * room, it holds no lock.
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
#include <sys/auxv.h>
#include <sys/uio.h>
#include <time.h>

enum {
    NAP = 50 * 1000 /* nanoseconds, while the ring is full */
};

uint8_t *quipu_watch_ring_at(struct quipu_watch_file *file, uint64_t at) {
    return (uint8_t *)file + file->ring_offset + (at & (file->ring_size - 1));
}

/* An ended process keeps its number until its parent has waited for it, but has no memory. */
static bool process_is_gone(uint32_t process) {
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
    if (process_is_gone(consumer))
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
        quipu_watch_publish((struct quipu_record *)quipu_watch_ring_at(file, head), (uint32_t)pad,
                            QUIPU_RECORD_PAD);
    return (struct quipu_record *)quipu_watch_ring_at(file, head + pad);
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

bool quipu_watch_is_allowed(const struct quipu_watch_file *file, uint64_t pc) {
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
    record->build_id_size = module_build_id(info, record->build_id);
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
    uint32_t size = (uint32_t)round_up_to_8(sizeof module.record + module.record.name_size);
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
