/* registers.c: the registers of a traced thread; see registers.h.
 *
 * The Intel manual, volume 1, chapter 13: the area of xsave is the legacy region of 512 bytes, a
 * header of 64 bytes that begins with the set of components that are not in their initial state,
 * and the components at places that cpuid tells. */
#include "x86/registers.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* Components of the area, by the number of their bit. */
enum {
    COMPONENT_SSE = 1,
    COMPONENT_AVX = 2,         /* bytes 16 to 31 of vectors 0 to 15 */
    COMPONENT_MASKS = 5,       /* %k0 to %k7 */
    COMPONENT_UPPER = 6,       /* bytes 32 to 63 of vectors 0 to 15 */
    COMPONENT_MORE_VECTORS = 7 /* vectors 16 to 31 */
};

enum {
    XSAVE_LEAF = 0xd,
    XSAVE_HEADER = 512,
    MXCSR_PLACE = 24, /* and its mask; in front of it the x87's control */
    STACK_PLACE = 32, /* %st(0) to %st(7) */
    SSE_PLACE = 160,  /* of the first vector, in the legacy region */
    LOW_VECTORS = 16  /* vectors in the components SSE, AVX and UPPER */
};

bool get_general_registers(pid_t thread, struct user_regs_struct *registers) {
    return ptrace(PTRACE_GETREGS, thread, NULL, registers) == 0;
}

bool set_general_registers(pid_t thread, const struct user_regs_struct *registers) {
    return ptrace(PTRACE_SETREGS, thread, NULL, registers) == 0;
}

bool get_registers(pid_t thread, struct registers *registers) {
    struct iovec area = {registers->vectors, sizeof registers->vectors};
    registers->vector_size = 0;
    if (!get_general_registers(thread, &registers->general))
        return false;
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &area) == 0)
        registers->vector_size = area.iov_len;
    return true;
}

bool set_registers(pid_t thread, const struct registers *registers) {
    struct iovec area = {(void *)registers->vectors, registers->vector_size};
    return set_general_registers(thread, &registers->general) &&
           (area.iov_len == 0 ||
            ptrace(PTRACE_SETREGSET, thread, (void *)NT_X86_XSTATE, &area) == 0);
}

bool get_register(pid_t thread, size_t place, uint64_t *value) {
    errno = 0;
    long word =
        ptrace(PTRACE_PEEKUSER, thread, (void *)(offsetof(struct user, regs) + place), NULL);
    if (errno)
        return false;
    *value = (uint64_t)word;
    return true;
}

bool set_register(pid_t thread, size_t place, uint64_t value) {
    return ptrace(PTRACE_POKEUSER, thread, (void *)(offsetof(struct user, regs) + place),
                  (void *)value) == 0;
}

/* By number, as instructions encode it. */
static const size_t places[] = {
    offsetof(struct user_regs_struct, rax), offsetof(struct user_regs_struct, rcx),
    offsetof(struct user_regs_struct, rdx), offsetof(struct user_regs_struct, rbx),
    offsetof(struct user_regs_struct, rsp), offsetof(struct user_regs_struct, rbp),
    offsetof(struct user_regs_struct, rsi), offsetof(struct user_regs_struct, rdi),
    offsetof(struct user_regs_struct, r8),  offsetof(struct user_regs_struct, r9),
    offsetof(struct user_regs_struct, r10), offsetof(struct user_regs_struct, r11),
    offsetof(struct user_regs_struct, r12), offsetof(struct user_regs_struct, r13),
    offsetof(struct user_regs_struct, r14), offsetof(struct user_regs_struct, r15),
};

void put_general_register(struct user_regs_struct *registers, unsigned number, uint64_t value) {
    memcpy((char *)registers + places[number], &value, sizeof value);
}

void put_general_registers(struct user_regs_struct *registers, const uint64_t *values) {
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        put_general_register(registers, i, values[i]);
}

uint64_t general_register(const struct user_regs_struct *registers, unsigned number) {
    uint64_t value;
    memcpy(&value, (const char *)registers + places[number], sizeof value);
    return value;
}

struct component {
    bool is_asked;
    unsigned size, place;
};

/* Where the component is in the area. In a virtual machine the processor's answer is slow. */
static const struct component *ask_component(unsigned number) {
    static struct component components[COMPONENT_MORE_VECTORS + 1];
    struct component *component = &components[number];
    unsigned unused_c, unused_d;
    if (component->is_asked)
        return component;
    component->is_asked = true;
    if (number == COMPONENT_SSE) {
        component->size = LOW_VECTORS * 16;
        component->place = SSE_PLACE;
    } else if (!__get_cpuid_count(XSAVE_LEAF, number, &component->size, &component->place,
                                  &unused_c, &unused_d)) {
        component->size = 0;
    }
    return component;
}

/* Returns the component's bytes, or NULL if they are in their initial state: all 0. */
static const uint8_t *find_component(const struct registers *registers, unsigned number) {
    uint64_t present = 0;
    if (registers->vector_size < XSAVE_HEADER + sizeof present)
        return NULL;
    memcpy(&present, registers->vectors + XSAVE_HEADER, sizeof present);
    const struct component *component = ask_component(number);
    if (!(present >> number & 1) || component->size == 0 ||
        component->place + component->size > registers->vector_size)
        return NULL;
    return registers->vectors + component->place;
}

/* Copies part NUMBER of a component, each of SIZE bytes. */
static void copy_part(const struct registers *registers, unsigned component, unsigned number,
                      uint8_t *to, size_t size) {
    const uint8_t *from = find_component(registers, component);
    if (from)
        memcpy(to, from + number * size, size);
    else
        memset(to, 0, size);
}

void vector_register(const struct registers *registers, unsigned number,
                     uint8_t bytes[VECTOR_BYTES]) {
    if (number >= LOW_VECTORS) {
        copy_part(registers, COMPONENT_MORE_VECTORS, number - LOW_VECTORS, bytes, VECTOR_BYTES);
        return;
    }
    copy_part(registers, COMPONENT_SSE, number, bytes, 16);
    copy_part(registers, COMPONENT_AVX, number, bytes + 16, 16);
    copy_part(registers, COMPONENT_UPPER, number, bytes + 32, 32);
}

/* Returns the component's bytes, which are in use from now on, or NULL if there is no such one. */
static uint8_t *edit_component(struct registers *registers, unsigned number) {
    const struct component *component = ask_component(number);
    uint64_t present = 0;
    if (registers->vector_size < XSAVE_HEADER + sizeof present || component->size == 0 ||
        component->place + component->size > registers->vector_size)
        return NULL;
    memcpy(&present, registers->vectors + XSAVE_HEADER, sizeof present);
    if (!(present >> number & 1))
        memset(registers->vectors + component->place, 0, component->size);
    present |= (uint64_t)1 << number;
    memcpy(registers->vectors + XSAVE_HEADER, &present, sizeof present);
    return registers->vectors + component->place;
}

/* Sets part NUMBER of a component, unless it has no other value already. */
static void set_part(struct registers *registers, unsigned component, unsigned number,
                     const uint8_t *from, size_t size) {
    uint8_t present[VECTOR_BYTES];
    copy_part(registers, component, number, present, size);
    if (memcmp(present, from, size) == 0)
        return;
    uint8_t *to = edit_component(registers, component);
    if (to)
        memcpy(to + number * size, from, size);
}

void set_vector_register(struct registers *registers, unsigned number,
                         const uint8_t bytes[VECTOR_BYTES]) {
    if (number >= LOW_VECTORS) {
        set_part(registers, COMPONENT_MORE_VECTORS, number - LOW_VECTORS, bytes, VECTOR_BYTES);
        return;
    }
    set_part(registers, COMPONENT_SSE, number, bytes, 16);
    set_part(registers, COMPONENT_AVX, number, bytes + 16, 16);
    set_part(registers, COMPONENT_UPPER, number, bytes + 32, 32);
}

void set_mask_register(struct registers *registers, unsigned number, uint64_t bits) {
    set_part(registers, COMPONENT_MASKS, number, (const uint8_t *)&bits, sizeof bits);
}

uint8_t *edit_legacy_region(struct registers *registers) {
    static const uint16_t initial_control = 0x37f;
    uint64_t present = 0;
    if (registers->vector_size < XSAVE_HEADER + sizeof present)
        return NULL;
    memcpy(&present, registers->vectors + XSAVE_HEADER, sizeof present);
    if (!(present & 1)) {
        memset(registers->vectors, 0, MXCSR_PLACE);
        memset(registers->vectors + STACK_PLACE, 0, SSE_PLACE - STACK_PLACE);
        memcpy(registers->vectors, &initial_control, sizeof initial_control);
    }
    present |= 1;
    memcpy(registers->vectors + XSAVE_HEADER, &present, sizeof present);
    return registers->vectors;
}

bool has_same_stack(const struct registers *one, const struct registers *other) {
    const uint8_t *areas[2];
    static const uint8_t none[SSE_PLACE] = {0};
    const struct registers *both[2] = {one, other};
    for (int i = 0; i < 2; i++) {
        uint64_t present = 1;
        if (both[i]->vector_size >= XSAVE_HEADER + sizeof present)
            memcpy(&present, both[i]->vectors + XSAVE_HEADER, sizeof present);
        areas[i] = present & 1 ? both[i]->vectors : none;
    }
    if (areas[0] == none || areas[1] == none)
        return true; /* one is in its initial state: the other nearly always is, too */
    return memcmp(areas[0], areas[1], MXCSR_PLACE) == 0 &&
           memcmp(areas[0] + STACK_PLACE, areas[1] + STACK_PLACE, SSE_PLACE - STACK_PLACE) == 0;
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

enum {
    STACK_REGISTERS = 8,
    STACK_ROOM = 16,  /* bytes from one to the next */
    STACK_BYTES = 10, /* of them, that one has */
    TAGS_PLACE = 4    /* a bit for each register of the x87 that is in use */
};

/* Whether %st(INDEX) is in use. */
static bool is_used(const struct registers *registers, unsigned index) {
    uint64_t present = 0;
    const uint8_t *area = registers->vectors;
    if (registers->vector_size >= XSAVE_HEADER + sizeof present)
        memcpy(&present, area + XSAVE_HEADER, sizeof present);
    unsigned top = area[3] >> 3;
    return present & 1 && area[TAGS_PLACE] >> (top + index) % STACK_REGISTERS & 1;
}

unsigned stack_registers(const struct registers *registers, uint8_t bytes[8][16]) {
    unsigned count = 0;
    for (; count < STACK_REGISTERS && is_used(registers, count); count++) {
        memset(bytes[count], 0, STACK_ROOM);
        memcpy(bytes[count], registers->vectors + STACK_PLACE + (size_t)count * STACK_ROOM,
               STACK_BYTES);
    }
    return count;
}

/* Adds the control and status of the x87, and the registers that are in use. In its initial state
 * the area may be empty, or have the same in it. */
static uint64_t hash_stack(uint64_t hash, const struct registers *registers) {
    static const uint8_t initial[TAGS_PLACE + 1] = {0x7f, 0x03};
    uint64_t present = 0;
    const uint8_t *area = registers->vectors;
    if (registers->vector_size >= XSAVE_HEADER + sizeof present)
        memcpy(&present, area + XSAVE_HEADER, sizeof present);
    if (!(present & 1) || memcmp(area, initial, sizeof initial) == 0)
        return hash;
    hash = hash_bytes(hash, area, sizeof initial);
    for (unsigned i = 0; i < STACK_REGISTERS; i++)
        if (is_used(registers, i))
            hash = hash_bytes(hash, area + STACK_PLACE + (size_t)i * STACK_ROOM, STACK_BYTES);
    return hash;
}

uint64_t hash_vectors(const struct registers *registers) {
    enum {
        VECTORS = 32,
        MASKS = 8
    };
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < VECTORS; i++) {
        uint8_t bytes[VECTOR_BYTES];
        vector_register(registers, i, bytes);
        hash = hash_bytes(hash, bytes, sizeof bytes);
    }
    for (unsigned i = 0; i < MASKS; i++) {
        uint64_t bits = mask_register(registers, i);
        hash = hash_bytes(hash, (const uint8_t *)&bits, sizeof bits);
    }
    return hash_stack(hash, registers);
}

uint64_t mask_register(const struct registers *registers, unsigned number) {
    uint64_t bits;
    copy_part(registers, COMPONENT_MASKS, number, (uint8_t *)&bits, sizeof bits);
    return bits;
}
