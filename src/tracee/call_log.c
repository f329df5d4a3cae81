/* call_log.c: the log of a run's system calls; see call_log.h.
 *
 * The table (format/system_calls.h) has the calls that programs make often. A call that it does not
 * have is made only once: the search makes a checkpoint behind it. */
#include "tracee/call_log.h"

#include <string.h>
#include <sys/uio.h>

static const struct quipu_system_call rows[] = {QUIPU_SYSTEM_CALLS(QUIPU_SYSTEM_CALL_ROW)};

enum {
    ROWS = sizeof rows / sizeof *rows
};

const struct quipu_system_call *find_call_row(const struct system_call *call) {
    static const struct quipu_system_call unknown = {.repeats = QUIPU_CALL_ONCE};
    size_t found = quipu_find_system_call(rows, ROWS, call->number, call->arguments);
    return found == ROWS ? &unknown : &rows[found];
}

uint64_t output_bytes(const struct system_call *call, uint32_t extent, int64_t result) {
    unsigned number = quipu_extent_a(extent);
    uint64_t a = number < QUIPU_CALL_ARGUMENTS ? call->arguments[number] : 0;
    uint64_t c = quipu_extent_constant(extent);
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_RESULT:
        return result > 0 ? c * (uint64_t)result : 0;
    case QUIPU_EXTENT_TIMES:
        return a * c;
    case QUIPU_EXTENT_BYTES:
        return a;
    default: /* QUIPU_EXTENT_CONSTANT */
        return c;
    }
}

uint64_t most_output_bytes(const struct system_call *call, uint32_t extent) {
    uint32_t pointer = extent & 7;
    int64_t most =
        pointer + 1 < QUIPU_CALL_ARGUMENTS ? (int64_t)call->arguments[pointer + 1] : INT64_MAX;
    return output_bytes(call, extent, most);
}

/* FUTEX_WAIT, FUTEX_WAKE, FUTEX_FD, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAIT_BITSET and
 * FUTEX_WAKE_BITSET only read. */
static bool changes_futex(const struct system_call *call) {
    uint64_t operation = call->arguments[1] & 0x7f;
    return operation > 4 && operation != 9 && operation != 10;
}

bool may_write(const struct system_call *call, uint64_t address, uint64_t size) {
    const struct quipu_system_call *row = find_call_row(call);
    if (call->number == SYS_futex)
        return changes_futex(call);
    if (row->repeats != QUIPU_CALL_GIVEN)
        return true;
    for (int i = 0; i < QUIPU_CALL_ACCESSES; i++) {
        uint32_t extent = row->accesses[i];
        uint64_t begin = call->arguments[(extent & 7) % QUIPU_CALL_ARGUMENTS];
        uint64_t most = is_output(extent) ? most_output_bytes(call, extent) : 0;
        if (begin && begin < address + size && (address < begin || address - begin < most))
            return true;
    }
    return false;
}

bool log_call(struct call_log *log, pid_t process, const struct system_call *call,
              const struct quipu_system_call *row) {
    struct logged_call logged = {call->number, call->result, {{0}}};
    for (int i = 0; i < QUIPU_CALL_ACCESSES; i++) {
        uint32_t extent = row->accesses[i];
        uint64_t address = call->arguments[(extent & 7) % QUIPU_CALL_ARGUMENTS];
        size_t size = is_output(extent) ? output_bytes(call, extent, call->result) : 0;
        if (!address || !size || call->result < 0)
            continue;
        uint8_t *bytes = arena_alloc(&log->arena, size);
        struct iovec here = {bytes, size}, there = {(void *)address, size};
        /* the program's structure may be shorter than the kernel's largest; the bytes behind it are
         * logged unchanged */
        ssize_t read = process_vm_readv(process, &here, 1, &there, 1, 0);
        if (read <= 0)
            return false;
        logged.outputs[i].address = address;
        logged.outputs[i].bytes = bytes;
        logged.outputs[i].size = (size_t)read;
        log->bytes += (size_t)read;
    }
    vector_push(&log->arena, &log->calls, logged);
    return true;
}

bool give_call(const struct logged_call *call, pid_t process) {
    for (int i = 0; i < QUIPU_CALL_ACCESSES; i++) {
        size_t size = call->outputs[i].size;
        struct iovec here = {call->outputs[i].bytes, size};
        struct iovec there = {(void *)call->outputs[i].address, size};
        if (size && process_vm_writev(process, &here, 1, &there, 1, 0) != (ssize_t)size)
            return false;
    }
    return true;
}

void clear_calls(struct call_log *log) {
    arena_release(&log->arena);
    *log = (struct call_log){0};
}
