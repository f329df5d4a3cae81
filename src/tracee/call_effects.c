/* call_effects.c: what a system call has written; see call_effects.h.
 *
 * Not perfect: of a call that the table does not have, memory that is shared with other processes
 * is compared, too, so their writes during the call count as the call's. */
#include "tracee/call_effects.h"

#include "tracee/tracee.h"

#include <sys/uio.h>

enum {
    VECTORS_MAX = 1024 /* IOV_MAX */
};

#define OUTPUT_MAX ((uint64_t)1 << 30)

static const struct {
    uint16_t number;
    const char *name;
} names[] = {
#define NAME_OF_ROW(name, repeats, condition, accesses, measures) {SYS_##name, #name},
    QUIPU_SYSTEM_CALLS(NAME_OF_ROW)
#undef NAME_OF_ROW
};

const char *call_name(struct arena *arena, uint64_t number) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return arena_print(arena, "call %llu", (unsigned long long)number);
}

static uint64_t argument(const struct system_call *call, unsigned number) {
    return number < QUIPU_CALL_ARGUMENTS ? call->arguments[number] : 0;
}

/* ---- by the table ---- */

static uint64_t output_size(const struct call_effects *effects, const struct system_call *call,
                            int access) {
    uint32_t extent = effects->row->accesses[access];
    return quipu_extent_kind(extent) == QUIPU_EXTENT_POINTED
               ? effects->pointed[access]
               : output_bytes(call, extent, call->result);
}

/* An interrupted call, too, may have written what is marked as changing. */
static bool add_outputs(struct call_effects *effects, pid_t process, const struct system_call *call,
                        range_list *ranges) {
    for (int i = 0; i < QUIPU_CALL_ACCESSES && effects->row->accesses[i]; i++) {
        uint32_t extent = effects->row->accesses[i];
        uint64_t address = argument(call, extent & 7);
        uint64_t size = is_output(extent) ? output_size(effects, call, i) : 0;
        bool may_fail = extent & QUIPU_EXTENT_CHANGED;
        if (!address || !size || (call->result < 0 && !may_fail))
            continue;
        if (size > OUTPUT_MAX)
            return false;
        /* the program's structure may be shorter than the kernel's largest */
        if (!copy_memory_range(&effects->arena, process, address, size, ranges) &&
            call->result >= 0)
            return false;
    }
    return true;
}

/* Adds the parts of COUNT struct iovec at ADDRESS, SIZE bytes in all. */
static bool add_vector(struct call_effects *effects, pid_t process, uint64_t address,
                       uint64_t count, uint64_t size, range_list *ranges) {
    struct iovec parts[VECTORS_MAX];
    if (count > VECTORS_MAX || !read_memory(process, address, parts, count * sizeof *parts))
        return count == 0;
    for (uint64_t i = 0; i < count && size; i++) {
        uint64_t part = parts[i].iov_len < size ? parts[i].iov_len : size;
        if (part &&
            !copy_memory_range(&effects->arena, process, (uint64_t)parts[i].iov_base, part, ranges))
            return false;
        size -= part;
    }
    return true;
}

static uint64_t lower(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Adds what recvmsg has written: the message's header, and what it leads to. */
static bool add_message(struct call_effects *effects, pid_t process, uint64_t address,
                        uint64_t result, range_list *ranges) {
    struct msghdr now = {0}, *then = &effects->message;
    if (!read_memory(process, address, &now, sizeof now))
        return false;
    uint64_t name = lower(then->msg_namelen, now.msg_namelen);
    uint64_t control = lower(then->msg_controllen, now.msg_controllen);
    struct arena *arena = &effects->arena;
    return copy_memory_range(arena, process, address, sizeof now, ranges) &&
           (!then->msg_name || !name ||
            copy_memory_range(arena, process, (uint64_t)then->msg_name, name, ranges)) &&
           (!then->msg_control || !control ||
            copy_memory_range(arena, process, (uint64_t)then->msg_control, control, ranges)) &&
           add_vector(effects, process, (uint64_t)then->msg_iov, then->msg_iovlen, result, ranges);
}

static bool add_measured(struct call_effects *effects, pid_t process,
                         const struct system_call *call, range_list *ranges) {
    for (int i = 0; i < QUIPU_MEASURES_MOST && effects->row->measures[i]; i++) {
        uint32_t measure = effects->row->measures[i];
        uint64_t p = argument(call, quipu_measure_p(measure));
        uint64_t size = (uint64_t)call->result;
        if (!(measure & QUIPU_MEASURE_WRITES) || call->result < 0)
            continue;
        bool good = quipu_measure_kind(measure) == QUIPU_MEASURE_VECTOR
                        ? add_vector(effects, process, p, argument(call, quipu_measure_n(measure)),
                                     size, ranges)
                        : add_message(effects, process, p, size, ranges);
        if (!good)
            return false;
    }
    return true;
}

/* ---- the call ---- */

bool effects_begin(struct call_effects *effects, pid_t process, const struct system_call *call) {
    arena_clear(&effects->arena);
    *effects = (struct call_effects){.arena = effects->arena, .row = find_call_row(call)};
    effects->known = effects->row->number == call->number;
    if (!effects->known)
        return copy_writable_memory(&effects->arena, process, &effects->before);
    for (int i = 0; i < QUIPU_CALL_ACCESSES; i++) {
        uint32_t extent = effects->row->accesses[i], size = 0;
        if (quipu_extent_kind(extent) == QUIPU_EXTENT_POINTED &&
            read_memory(process, argument(call, quipu_extent_a(extent)), &size, sizeof size))
            effects->pointed[i] = size;
    }
    for (int i = 0; i < QUIPU_MEASURES_MOST; i++) {
        uint32_t measure = effects->row->measures[i];
        if (quipu_measure_kind(measure) == QUIPU_MEASURE_MESSAGE)
            read_memory(process, argument(call, quipu_measure_p(measure)), &effects->message,
                        sizeof effects->message);
    }
    return true;
}

bool effects_end(struct call_effects *effects, pid_t process, const struct system_call *call,
                 range_list *ranges) {
    *ranges = (range_list){0};
    if (!effects->known)
        return find_changed_memory(&effects->arena, process, &effects->before, ranges);
    return add_outputs(effects, process, call, ranges) &&
           add_measured(effects, process, call, ranges);
}

/* ---- a call that has not ended ---- */

static void add_place(struct arena *arena, uint64_t address, uint64_t size, range_list *ranges) {
    if (address && size)
        vector_push(arena, ranges, ((struct memory_range){address, size, NULL}));
}

static void add_vector_to_come(struct arena *arena, pid_t process, uint64_t address, uint64_t count,
                               range_list *ranges) {
    struct iovec parts[VECTORS_MAX];
    if (count > VECTORS_MAX || !read_memory(process, address, parts, count * sizeof *parts))
        return; /* the call fails */
    for (uint64_t i = 0; i < count; i++)
        add_place(arena, (uint64_t)parts[i].iov_base, parts[i].iov_len, ranges);
}

bool effects_to_come(struct call_effects *effects, pid_t process, const struct system_call *call,
                     struct arena *arena, range_list *ranges) {
    const struct msghdr *message = &effects->message;
    if (!effects->known)
        return false;
    for (int i = 0; i < QUIPU_CALL_ACCESSES && effects->row->accesses[i]; i++) {
        uint32_t extent = effects->row->accesses[i];
        if (!is_output(extent))
            continue;
        uint64_t size = quipu_extent_kind(extent) == QUIPU_EXTENT_POINTED
                            ? effects->pointed[i]
                            : most_output_bytes(call, extent);
        if (size > OUTPUT_MAX)
            return false;
        add_place(arena, argument(call, extent & 7), size, ranges);
    }
    for (int i = 0; i < QUIPU_MEASURES_MOST && effects->row->measures[i]; i++) {
        uint32_t measure = effects->row->measures[i];
        uint64_t p = argument(call, quipu_measure_p(measure));
        if (!(measure & QUIPU_MEASURE_WRITES))
            continue;
        if (quipu_measure_kind(measure) == QUIPU_MEASURE_VECTOR) {
            add_vector_to_come(arena, process, p, argument(call, quipu_measure_n(measure)), ranges);
            continue;
        }
        add_place(arena, p, sizeof *message, ranges);
        add_place(arena, (uint64_t)message->msg_name, message->msg_namelen, ranges);
        add_place(arena, (uint64_t)message->msg_control, message->msg_controllen, ranges);
        add_vector_to_come(arena, process, (uint64_t)message->msg_iov, message->msg_iovlen, ranges);
    }
    return true;
}
