/* inside.c: makes system calls of the program within its process, or gives it their recorded
 * effects; see format/inside.h.
 *
 * A recorded call must not wait for what another thread does, since the one that makes it has the
 * turn. So calls that may wait are tried in a way that does not: with RWF_NOWAIT, MSG_DONTWAIT, or
 * a time of 0. What would wait is made where the thread has given the turn away (wait.c), or is
 * left to the recorder, as is all that is not in the table.
 *
 * Everything here runs on a stack of its own, uses general registers only, and calls nothing. The
 * memory of the program is touched only where the kernel has just read or written it with success,
 * so it is there.
 *
 * Not perfect: the rest of a write to a stream socket that was accepted in part is waited for. */
#include "inside/inside.h"

#include "format/event_hash.h"
#include "format/watch_callees.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

enum {
    AT_ONCE = 4096, /* bytes that a pipe takes all or none of */
    FUTEX_OPERATION = 0x7f,
    FUTEX_WAITS = 0,
    FUTEX_COMPARES = 4, /* FUTEX_CMP_REQUEUE */
    FUTEX_WAITS_BITS = 9,
    RESTART_FIRST = 512, /* results of interrupted calls */
    RESTART_LAST = 516
};

static const struct quipu_inside_rows *const rows = (void *)QUIPU_INSIDE_ROWS;
static const struct quipu_inside_site *const sites = (void *)QUIPU_INSIDE_TABLE;

/* ---- the kernel ---- */

static int64_t call_kernel(uint64_t number, const uint64_t arguments[ARGUMENTS]) {
    return MAKE_CALL_AT("inside_call_kernel", 0, number, arguments);
}

static uint64_t address_of(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

static void copy(void *to, const void *from, size_t size) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

/* ---- descriptors ---- */

static bool does_not_wait(uint64_t descriptor) {
    const uint64_t arguments[ARGUMENTS] = {descriptor, F_GETFL};
    int64_t flags = call_kernel(SYS_fcntl, arguments);
    return flags >= 0 && flags & O_NONBLOCK;
}

static enum quipu_inside_descriptor describe(const struct stat *status) {
    enum {
        MEMORY_DEVICES = 1 /* major number of null, zero, full, urandom */
    };
    uint64_t major = status->st_rdev >> 8 & 0xfff;
    if (status->st_dev == state->left_device)
        return QUIPU_DESCRIPTOR_LEFT;
    if (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))
        return QUIPU_DESCRIPTOR_FILE;
    if (S_ISCHR(status->st_mode))
        return major == MEMORY_DEVICES ? QUIPU_DESCRIPTOR_FILE : QUIPU_DESCRIPTOR_LEFT;
    return QUIPU_DESCRIPTOR_WAITS;
}

/* Returns what DESCRIPTOR, which is below QUIPU_INSIDE_DESCRIPTORS, leads to. */
static enum quipu_inside_descriptor look_at_descriptor(uint64_t descriptor) {
    uint8_t *known = &state->descriptors[descriptor];
    struct stat status;
    if (*known == QUIPU_DESCRIPTOR_UNKNOWN) {
        const uint64_t arguments[ARGUMENTS] = {descriptor, address_of(&status)};
        if (call_kernel(SYS_fstat, arguments) < 0)
            return QUIPU_DESCRIPTOR_FILE; /* calls fail at once */
        *known = (uint8_t)describe(&status);
    }
    return *known;
}

/* ---- calls that may wait ---- */

/* Whether a call may wait here: no other thread waits for the turn of this one. */
static bool may_wait(void) {
    return !(state->left & QUIPU_LEFT_WAITS);
}

/* Makes the call as the program has. */
static int make_plain(struct call *call) {
    call->result = call_kernel(call->number, call->arguments);
    return INSIDE_MADE;
}

/* The try would have waited. The call fails so, too, or waits. */
static int fail_or_wait(struct call *call, int64_t result) {
    call->result = result;
    return does_not_wait(call->arguments[0]) ? INSIDE_MADE : INSIDE_WAITS;
}

/* The call was made, but for the bytes behind the first DONE ones, which it waits for. */
static void write_rest(struct call *call, int64_t done) {
    uint64_t arguments[ARGUMENTS];
    copy(arguments, call->arguments, sizeof arguments);
    while (done >= 0 && (uint64_t)done < call->arguments[2]) {
        arguments[1] = call->arguments[1] + (uint64_t)done;
        arguments[2] = call->arguments[2] - (uint64_t)done;
        int64_t more = call_kernel(call->number, arguments);
        if (more <= 0)
            break;
        done += more;
    }
    call->result = done;
}

/* Reads or writes bytes by a descriptor that may wait. */
static int transfer_without_waiting(struct call *call) {
    const struct iovec part = {(void *)(uintptr_t)call->arguments[1], call->arguments[2]};
    bool writes = call->row->kind == QUIPU_INSIDE_WRITE;
    const uint64_t descriptor = call->arguments[0];
    const uint64_t arguments[ARGUMENTS] = {descriptor, address_of(&part), 1,
                                           UINT64_MAX, UINT64_MAX,        RWF_NOWAIT};
    if (writes && part.iov_len > AT_ONCE && !does_not_wait(descriptor))
        return INSIDE_WAITS;
    int64_t result = call_kernel(writes ? SYS_pwritev2 : SYS_preadv2, arguments);
    if (result == -EOPNOTSUPP) {
        state->descriptors[descriptor] = QUIPU_DESCRIPTOR_BLIND;
        return INSIDE_WAITS;
    }
    if (result == -EAGAIN)
        return fail_or_wait(call, result);
    call->result = result;
    if (writes && result > 0 && (uint64_t)result < part.iov_len && !does_not_wait(descriptor))
        write_rest(call, result);
    return INSIDE_MADE;
}

static int transfer(struct call *call) {
    bool has_place = call->number == SYS_pread64 || call->number == SYS_pwrite64;
    switch (look_at_descriptor(call->arguments[0])) {
    case QUIPU_DESCRIPTOR_FILE:
        break;
    case QUIPU_DESCRIPTOR_WAITS:
        if (has_place || may_wait()) /* the former fails */
            break;
        return transfer_without_waiting(call);
    case QUIPU_DESCRIPTOR_BLIND:
        if (may_wait())
            break;
        return INSIDE_WAITS;
    default:
        return INSIDE_LEFT;
    }
    return make_plain(call);
}

static int send_or_receive(struct call *call) {
    uint64_t arguments[ARGUMENTS];
    bool sends = call->number == SYS_sendto;
    bool waits = !(call->arguments[3] & MSG_DONTWAIT);
    if (may_wait())
        return make_plain(call);
    if (sends && waits && call->arguments[2] > AT_ONCE && !does_not_wait(call->arguments[0]))
        return INSIDE_WAITS;
    copy(arguments, call->arguments, sizeof arguments);
    arguments[3] |= MSG_DONTWAIT;
    int64_t result = call_kernel(call->number, arguments);
    if (result == -EAGAIN && waits)
        return fail_or_wait(call, result);
    call->result = result;
    if (sends && waits && result > 0 && (uint64_t)result < call->arguments[2] &&
        !does_not_wait(call->arguments[0]))
        write_rest(call, result);
    return INSIDE_MADE;
}

/* What it waits for is not known before it is made. */
static int transfer_vector(struct call *call) {
    enum quipu_inside_descriptor leads_to = look_at_descriptor(call->arguments[0]);
    if (leads_to == QUIPU_DESCRIPTOR_LEFT)
        return INSIDE_LEFT;
    if (leads_to != QUIPU_DESCRIPTOR_FILE && !may_wait() && !does_not_wait(call->arguments[0]))
        return INSIDE_WAITS;
    return make_plain(call);
}

static int poll(struct call *call) {
    uint64_t arguments[ARGUMENTS];
    if (may_wait())
        return make_plain(call);
    copy(arguments, call->arguments, sizeof arguments);
    arguments[call->row->wait] = 0;
    call->result = call_kernel(call->number, arguments);
    return call->result || (uint32_t)call->arguments[call->row->wait] == 0 ? INSIDE_MADE
                                                                           : INSIDE_WAITS;
}

static bool starts_with(const char *text, const char *begin) {
    while (*begin && *text == *begin)
        text++, begin++;
    return !*begin;
}

/* Opening a pipe may wait; and terminals and files of processes are the recorder's. */
static int open_file(struct call *call) {
    struct stat status;
    const uint8_t path = call->row->wait;
    const uint64_t flags = call->arguments[path + 1];
    const uint64_t looks[ARGUMENTS] = {path ? call->arguments[0] : (uint64_t)AT_FDCWD,
                                       call->arguments[path], address_of(&status),
                                       flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0};
    int64_t looked = call_kernel(SYS_newfstatat, looks);
    bool is_file = looked == 0 && describe(&status) == QUIPU_DESCRIPTOR_FILE;
    if (looked == 0 && (!is_file || S_ISCHR(status.st_mode)) && !S_ISLNK(status.st_mode))
        return INSIDE_LEFT;
    if (looked == 0) {
        const char *text = (const char *)(uintptr_t)call->arguments[path];
        if (starts_with(text, "/dev/") || starts_with(text, "/proc/"))
            return INSIDE_LEFT;
    }
    call->result = call_kernel(call->number, call->arguments);
    if (call->result >= 0 && call->result < QUIPU_INSIDE_DESCRIPTORS)
        state->descriptors[call->result] = QUIPU_DESCRIPTOR_UNKNOWN;
    return INSIDE_MADE;
}

static int close_descriptor(struct call *call) {
    call->result = call_kernel(call->number, call->arguments);
    state->descriptors[call->arguments[0]] = QUIPU_DESCRIPTOR_UNKNOWN;
    return INSIDE_MADE;
}

/* Whether the word of a wait has another value, so the call fails at once. To move no waiter to
 * itself compares the word, and does nothing else. */
static bool has_other_value(const struct call *call) {
    const uint64_t word = call->arguments[0];
    const uint64_t operation = (call->arguments[1] & ~(uint64_t)FUTEX_OPERATION) | FUTEX_COMPARES;
    const uint64_t arguments[ARGUMENTS] = {word, operation, 0, 0, word, call->arguments[2]};
    return call_kernel(SYS_futex, arguments) == -EAGAIN;
}

static int wait_or_wake(struct call *call) {
    uint64_t operation = call->arguments[1] & FUTEX_OPERATION;
    bool waits = operation == FUTEX_WAITS || operation == FUTEX_WAITS_BITS;
    if (!waits || may_wait())
        return make_plain(call);
    call->result = -EAGAIN;
    return has_other_value(call) ? INSIDE_MADE : INSIDE_WAITS;
}

/* The kernel's functions know these clocks; for others they make a system call. */
static bool is_read_by_function(uint64_t clock) {
    const uint64_t clocks = 1u << 0 | 1u << 1 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 11;
    return clock < 32 && clocks >> clock & 1;
}

static int read_clock(struct call *call) {
    typedef int64_t function(uint64_t, uint64_t);
    uint64_t address = state->clocks[call->row->wait];
    bool known = call->row->wait != QUIPU_CLOCK_GETTIME || is_read_by_function(call->arguments[0]);
    call->result = -EINVAL;
    if (address && known)
        call->result = ((function *)(uintptr_t)address)(call->arguments[0], call->arguments[1]);
    return call->result >= 0 ? INSIDE_MADE : make_plain(call);
}

/* Makes the call, unless it is left, or waits. */
static int make(struct call *call) {
    switch (call->row->kind) {
    case QUIPU_INSIDE_PLAIN:
        return make_plain(call);
    case QUIPU_INSIDE_READ:
    case QUIPU_INSIDE_WRITE:
        return transfer(call);
    case QUIPU_INSIDE_MESSAGE:
        return send_or_receive(call);
    case QUIPU_INSIDE_POLL:
        return poll(call);
    case QUIPU_INSIDE_OPEN:
        return open_file(call);
    case QUIPU_INSIDE_CLOSE:
        return close_descriptor(call);
    case QUIPU_INSIDE_SLEEP:
        return may_wait() ? make_plain(call) : INSIDE_WAITS;
    case QUIPU_INSIDE_CLOCK:
        return read_clock(call);
    case QUIPU_INSIDE_VECTOR:
        return transfer_vector(call);
    case QUIPU_INSIDE_FUTEX:
        return wait_or_wake(call);
    default:
        return INSIDE_LEFT;
    }
}

/* ---- what a call reads and writes ---- */

static uint64_t extent_size(const struct call *call, uint32_t extent, int64_t result) {
    const uint64_t constant = quipu_extent_constant(extent);
    const uint64_t number = call->arguments[quipu_extent_a(extent)];
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_RESULT:
        return result > 0 ? constant * (uint64_t)result : 0;
    case QUIPU_EXTENT_TIMES:
        return number * constant;
    case QUIPU_EXTENT_BYTES:
        return number;
    default:
        return constant;
    }
}

bool inside_has_room(void) {
    return QUIPU_INSIDE_LOG_SIZE - state->used >= QUIPU_INSIDE_ENTRY_MOST;
}

/* Whether all that the call may write has room in an entry. */
static bool has_room(const struct call *call) {
    uint64_t most = 0;
    for (int i = 0; i < QUIPU_INSIDE_ACCESSES && call->row->accesses[i]; i++) {
        uint32_t extent = call->row->accesses[i], pointer = extent & 7;
        bool by_result = quipu_extent_kind(extent) == QUIPU_EXTENT_RESULT;
        int64_t result = by_result ? (int64_t)(call->arguments[pointer + 1] & INT64_MAX) : 0;
        uint64_t size = extent_size(call, extent, result < INT32_MAX ? result : INT32_MAX);
        if (size > QUIPU_INSIDE_BYTES_MOST)
            return false;
        most += size;
    }
    return most <= QUIPU_INSIDE_BYTES_MOST && inside_has_room();
}

/* Whether the call has written what EXTENT says. */
static bool has_written(const struct call *call, uint32_t extent) {
    if (extent & QUIPU_EXTENT_ZERO)
        return call->result == 0;
    bool asks = call->row->kind == QUIPU_INSIDE_PLAIN || call->row->kind == QUIPU_INSIDE_SLEEP;
    if (extent & QUIPU_EXTENT_CHANGED && asks)
        return call->result > 0;
    return call->result >= 0;
}

/* Appends what the call has written, behind ENTRY. */
static void add_pieces(const struct call *call, struct quipu_inside_entry *entry) {
    for (int i = 0; i < QUIPU_INSIDE_ACCESSES && call->row->accesses[i]; i++) {
        uint32_t extent = call->row->accesses[i];
        uint64_t address = call->arguments[extent & 7];
        uint64_t size = has_written(call, extent) ? extent_size(call, extent, call->result) : 0;
        if (!address || !size)
            continue;
        struct quipu_inside_piece *piece = (void *)((char *)entry + entry->size);
        piece->size = (uint32_t)size;
        piece->argument = extent & 7;
        piece->address = address;
        copy(piece + 1, (const void *)(uintptr_t)address, size);
        entry->size += (uint32_t)(sizeof *piece + QUIPU_INSIDE_ROUNDED(size));
        entry->pieces++;
    }
}

static const uint8_t *memory_at(uint64_t address) {
    return (const uint8_t *)(uintptr_t)address;
}

/* The hash of the first LEFT bytes of what COUNT parts at ADDRESS lead to. */
static uint32_t hash_parts(uint64_t address, uint64_t count, uint64_t left) {
    const struct iovec *parts = (const void *)memory_at(address);
    uint64_t hash = QUIPU_EVENT_HASH_BEGIN;
    for (uint64_t i = 0; i < count && left; i++) {
        uint64_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
        hash = quipu_hash_part(hash, parts[i].iov_base, size);
        left -= size;
    }
    return (uint32_t)hash;
}

/* The hash of the bytes that a call with that result has written to a descriptor. */
static uint32_t hash_written(const struct call *call, int64_t result) {
    if (result <= 0)
        return 0;
    switch (call->number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
        return (uint32_t)quipu_hash_part(QUIPU_EVENT_HASH_BEGIN, memory_at(call->arguments[1]),
                                         (size_t)result);
    case SYS_writev:
        return hash_parts(call->arguments[1], call->arguments[2], (uint64_t)result);
    default:
        return 0;
    }
}

/* Of a processor that does not tell it, the kernel does. While that makes no calls, the player has
 * told it: it changes by calls only. Returns false if the thread is on its way out. */
static bool read_base(bool of_gs, uint64_t *base) {
    if (!state->has_bases && state->mode == QUIPU_INSIDE_PLAY) {
        *base = state->bases[of_gs];
    } else if (!state->has_bases) {
        const uint64_t arguments[ARGUMENTS] = {of_gs ? ARCH_GET_GS : ARCH_GET_FS, address_of(base)};
        return call_kernel(SYS_arch_prctl, arguments) == 0;
    } else if (of_gs) {
        __asm__ volatile("rdgsbase %0" : "=r"(*base));
    } else {
        __asm__ volatile("rdfsbase %0" : "=r"(*base));
    }
    return true;
}

/* Sets HASH to that of the program's registers. Returns false if they cannot be read here. */
static bool hash_frame(const struct quipu_inside_frame *frame, uint32_t *hash) {
    const uint64_t behind = frame->rcx; /* by now */
    const uint64_t flags = frame->flags & QUIPU_HASHED_FLAGS;
    uint64_t fs = 0, gs = 0;
    if (!read_base(false, &fs) || !read_base(true, &gs))
        return false;
    const uint64_t words[QUIPU_HASHED_REGISTERS] = {
        frame->rax,         frame->rbx, behind,    frame->rdx, frame->rsi, frame->rdi, frame->rbp,
        state->saved_stack, frame->r8,  frame->r9, frame->r10, flags,      frame->r12, frame->r13,
        frame->r14,         frame->r15, behind,    flags,      fs,         gs,
    };
    *hash = quipu_hash_registers(words);
    return true;
}

/* ---- recording ---- */

const struct quipu_inside_row *inside_find_row(const struct call *call) {
    uint8_t index = call->number < QUIPU_INSIDE_NUMBERS ? rows->first[call->number] : 0;
    for (; index; index = rows->rows[index].next) {
        const struct quipu_inside_row *row = &rows->rows[index];
        if (((uint32_t)call->arguments[row->argument] & row->mask) == row->value)
            return row;
    }
    return NULL;
}

/* Whether the call's descriptor can be used here. */
static bool may_use_descriptor(const struct call *call) {
    const struct quipu_inside_row *row = call->row;
    if (row->descriptor >= QUIPU_INSIDE_ARGUMENTS)
        return true;
    uint64_t descriptor = call->arguments[row->descriptor];
    return descriptor < QUIPU_INSIDE_DESCRIPTORS && !state->streams[descriptor];
}

static bool may_be_inside(const struct call *call) {
    return call->row && !(call->row->changes_files && state->left & QUIPU_LEFT_WRITES) &&
           may_use_descriptor(call) && has_room(call);
}

/* An interrupted call has done nothing, and is left. */
static bool was_interrupted(const struct call *call) {
    return call->result <= -RESTART_FIRST && call->result >= -RESTART_LAST;
}

/* Begins an entry for CALL. Nobody else makes one before the turn passes. */
static struct quipu_inside_entry *begin_entry(const struct call *call, uint32_t hash) {
    struct quipu_inside_entry *entry = (void *)(uintptr_t)(QUIPU_INSIDE_LOG + state->used);
    entry->size = sizeof *entry;
    entry->number = (uint16_t)call->number;
    entry->pieces = 0;
    entry->hash = hash;
    entry->thread = state->left & QUIPU_TURN_PASSES ? state->owner : 0;
    entry->result = 0;
    return entry;
}

static void end_entry(const struct quipu_inside_entry *entry) {
    state->count++;
    state->used += entry->size;
}

void inside_add_call(const struct call *call, uint32_t hash) {
    struct quipu_inside_entry *entry = begin_entry(call, hash ^ hash_written(call, call->result));
    entry->result = call->result;
    add_pieces(call, entry);
    end_entry(entry);
}

void inside_add_entry(const struct call *call, uint32_t hash) {
    struct quipu_inside_entry *entry = begin_entry(call, hash);
    entry->pieces = QUIPU_INSIDE_ENTERS;
    end_entry(entry);
}

/* Where the program has a filter of its own, all calls are left, and the kernel reports ours, too:
 * so no call may be made before that is known. */
static int record(struct call *call, const struct quipu_inside_frame *frame) {
    uint32_t hash;
    call->row = state->left & QUIPU_LEFT_ALL ? NULL : inside_find_row(call);
    if (!may_be_inside(call) || !hash_frame(frame, &hash))
        return INSIDE_LEFT;
    int outcome = make(call);
    if (outcome == INSIDE_MADE && was_interrupted(call))
        return INSIDE_LEFT;
    if (outcome == INSIDE_MADE) {
        inside_add_call(call, hash);
    } else if (outcome == INSIDE_WAITS) {
        if (!inside_may_wait_here())
            return INSIDE_LEFT;
        inside_add_entry(call, hash);
        inside_take_place(frame, hash);
    }
    return outcome;
}

/* ---- playing ---- */

static int play(struct call *call, const struct quipu_inside_frame *frame) {
    const struct quipu_inside_entry *entry = (void *)(uintptr_t)(QUIPU_INSIDE_LOG + state->taken);
    uint32_t hash;
    if (!hash_frame(frame, &hash) || state->taken >= state->used || entry->number != call->number ||
        entry->hash != (hash ^ hash_written(call, entry->result)))
        return INSIDE_LEFT;
    const char *at = (const char *)(entry + 1);
    for (uint16_t i = 0; i < entry->pieces; i++) {
        const struct quipu_inside_piece *piece = (const void *)at;
        uint64_t address = piece->argument < QUIPU_INSIDE_ARGUMENTS
                               ? call->arguments[piece->argument]
                               : piece->address;
        copy((void *)(uintptr_t)address, piece + 1, piece->size);
        at += sizeof *piece + QUIPU_INSIDE_ROUNDED(piece->size);
    }
    call->result = entry->result;
    state->count++;
    state->taken += entry->size;
    return INSIDE_MADE;
}

void inside_read_call(struct call *call, const struct quipu_inside_frame *frame) {
    *call = (struct call){
        .number = frame->rax,
        .arguments = {frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8, frame->r9}};
}

int inside_make_call(struct quipu_inside_frame *frame) {
    const struct quipu_inside_site *site = &sites[frame->rcx];
    struct call call;
    inside_read_call(&call, frame);
    state->goes_on = site->goes_on;
    state->is_left = site->is_left;
    frame->rcx = site->behind;
    int outcome = state->mode == QUIPU_INSIDE_PLAY ? play(&call, frame) : record(&call, frame);
    if (outcome == INSIDE_MADE)
        frame->rax = (uint64_t)call.result;
    return outcome;
}
