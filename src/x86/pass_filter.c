/* pass_filter.c: see pass_filter.h.
 *
 * The Intel manual, volume 2: MOV r64, r/m64 (REX.W 8b) and r/m64, r64 (REX.W 89), CMP r/m64, r64
 * (REX.W 39) and r64, r/m64 (REX.W 3b), MOV RAX, moffs64 (REX.W a1), ADD r/m64, imm8 (REX.W 83 /0),
 * LAHF, SAHF, SETO, JNE rel32, JMP rel32; Jcc rel8 (7x) and rel32
 * (0f 8x), JMP rel8 (eb) and rel32 (e9), LOOP and JRCXZ (e0 to e3). Data are addressed relative to
 * the instruction pointer.
 */
#include "x86/pass_filter.h"

#include "x86/decode.h"

#include <string.h>

/* Words behind the count. */
enum {
    SLOT_COUNT,
    SLOT_RAX,    /* the program's */
    SLOT_FLAGS,  /* and its flags */
    SLOT_WANTED, /* the wanted count */
    SLOT_REGISTERS,
    SLOT_WORDS = SLOT_REGISTERS + GENERAL_REGISTERS
};

enum {
    EXITS = GENERAL_REGISTERS + FILTER_WORDS + 1,
    DISTANCE = 4, /* bytes */
    WIDE = 0x48,  /* prefixes */
    WIDE_HIGH = 0x4c
};

struct writer {
    struct pass_filter *filter;
    size_t size;
    size_t exits[EXITS]; /* behind the distances of jumps to where the pass is another one */
    size_t exit_count;
};

static void put(struct writer *writer, const void *bytes, size_t size) {
    memcpy(writer->filter->code + writer->size, bytes, size);
    writer->size += size;
}

/* Sets the distance that ends at BEHIND. */
static void set_distance(struct pass_filter *filter, size_t behind, int64_t distance) {
    int32_t value = (int32_t)distance;
    memcpy(filter->code + behind - DISTANCE, &value, sizeof value);
}

/* An instruction with PREFIX and OPCODE, a register and a slot; and an immediate byte, if ADDED. */
static void put_slot(struct writer *writer, uint8_t prefix, uint8_t opcode, unsigned number,
                     unsigned slot, uint8_t added) {
    const uint8_t begin[] = {prefix, opcode, (uint8_t)(0x05 | (number & 7) << 3)};
    put(writer, begin, sizeof begin);
    writer->size += DISTANCE;
    size_t place = FILTER_COUNT + sizeof(uint64_t) * slot;
    set_distance(writer->filter, writer->size,
                 (int64_t)place - (int64_t)(writer->size + (added != 0)));
    if (added)
        put(writer, &added, 1);
}

static void put_load(struct writer *writer, unsigned slot) {
    put_slot(writer, WIDE, 0x8b, 0, slot, 0);
}

static void put_store(struct writer *writer, unsigned slot) {
    put_slot(writer, WIDE, 0x89, 0, slot, 0);
}

/* Leaves unless %rax is the slot's value. */
static void put_exit(struct writer *writer) {
    static const uint8_t jump[] = {0x0f, 0x85};
    put(writer, jump, sizeof jump);
    writer->size += DISTANCE;
    writer->exits[writer->exit_count++] = writer->size;
}

static void put_test(struct writer *writer, unsigned slot) {
    put_slot(writer, WIDE, 0x3b, 0, slot, 0);
    put_exit(writer);
}

static void set_slot(struct pass_filter *filter, unsigned slot, uint64_t value) {
    memcpy(filter->code + FILTER_COUNT + sizeof value * slot, &value, sizeof value);
}

static void put_state_tests(struct writer *writer, const struct wanted_pass *wanted) {
    static const uint8_t load_absolute[] = {WIDE, 0xa1};
    for (unsigned i = 0; i < GENERAL_REGISTERS; i++) {
        set_slot(writer->filter, SLOT_REGISTERS + i, general_register(wanted->registers, i));
        if (i == 0)
            continue; /* %rax is in use */
        put_slot(writer, i < 8 ? WIDE : WIDE_HIGH, 0x39, i, SLOT_REGISTERS + i, 0);
        put_exit(writer);
    }
    put_load(writer, SLOT_RAX);
    put_test(writer, SLOT_REGISTERS);
    for (unsigned i = 0; i < wanted->words; i++) {
        set_slot(writer->filter, SLOT_WORDS + i, wanted->values[i]);
        put(writer, load_absolute, sizeof load_absolute);
        put(writer, &wanted->addresses[i], sizeof *wanted->addresses);
        put_test(writer, SLOT_WORDS + i);
    }
}

/* add $0x7f, %al overflows if that is 1. */
static void put_restore(struct writer *writer) {
    static const uint8_t flags[] = {0x04, 0x7f, 0x9e};
    put_load(writer, SLOT_FLAGS);
    put(writer, flags, sizeof flags);
    put_load(writer, SLOT_RAX);
}

static void put_jump(struct writer *writer, uint64_t target) {
    static const uint8_t jump = 0xe9;
    put(writer, &jump, 1);
    writer->size += DISTANCE;
    set_distance(writer->filter, writer->size,
                 (int64_t)(target - (writer->filter->at + writer->size)));
}

static bool is_relative(const struct decoded *decoded) {
    bool relative = decoded->store.kind != ACCESS_NONE && decoded->store.relative;
    for (unsigned i = 0; i < decoded->load_count; i++)
        relative |= decoded->loads[i].relative;
    return relative;
}

size_t filtered_size(const uint8_t *code, size_t count) {
    size_t size = 0;
    while (size < FILTER_JUMP_SIZE) {
        struct decoded decoded;
        if (!decode_instruction(code + size, count - size, &decoded) ||
            decoded.class != CLASS_PLAIN || is_relative(&decoded) || decoded.address_to ||
            decoded.repeats || is_filling(&decoded))
            return 0;
        size += decoded.size;
    }
    return size <= FILTER_MOVED_MOST ? size : 0;
}

bool may_jump_between(const uint8_t *code, size_t count, size_t from, size_t to) {
    for (size_t at = 0; at + 6 <= count; at++) {
        bool is_short = (code[at] & 0xf0) == 0x70 || code[at] == 0xeb || (code[at] & 0xfc) == 0xe0;
        bool is_near = code[at] == 0x0f && (code[at + 1] & 0xf0) == 0x80;
        size_t size = is_short ? 2 : is_near ? 6 : 5;
        int32_t distance = code[at + 1] - (code[at + 1] & 0x80 ? 256 : 0);
        if (!is_short && !is_near && code[at] != 0xe9)
            continue;
        if (!is_short)
            memcpy(&distance, code + at + size - sizeof distance, sizeof distance);
        uint64_t target = at + size + (uint64_t)(int64_t)distance;
        if (target > from && target < to)
            return true;
    }
    return false;
}

void make_pass_filter(struct pass_filter *filter, uint64_t at, uint64_t address,
                      const uint8_t *code, size_t moved_size, const struct wanted_pass *wanted) {
    static const uint8_t keep_flags[] = {0x9f, 0x0f, 0x90, 0xc0}, nop = 0x90;
    struct writer writer = {.filter = filter};
    *filter = (struct pass_filter){.at = at, .moved_size = moved_size};
    put_store(&writer, SLOT_RAX);
    put(&writer, keep_flags, sizeof keep_flags);
    put_store(&writer, SLOT_FLAGS);
    put_slot(&writer, WIDE, 0x83, 0, SLOT_COUNT, 1);
    set_slot(filter, SLOT_WANTED, wanted->count);
    if (wanted->count) {
        put_load(&writer, SLOT_COUNT);
        put_test(&writer, SLOT_WANTED);
    } else {
        put_state_tests(&writer, wanted);
    }
    put_restore(&writer);
    filter->trap = at + writer.size;
    put(&writer, &nop, 1);
    size_t behind = writer.size + 1 + DISTANCE;
    put_jump(&writer, at + behind); /* its distance follows */
    for (size_t i = 0; i < writer.exit_count; i++)
        set_distance(filter, writer.exits[i], (int64_t)(writer.size - writer.exits[i]));
    put_restore(&writer);
    filter->moved = at + writer.size;
    set_distance(filter, behind, (int64_t)(writer.size - behind));
    put(&writer, code, moved_size);
    put_jump(&writer, address + moved_size);
    filter->jump[0] = 0xe9;
    int32_t distance = (int32_t)(at - (address + FILTER_JUMP_SIZE));
    memcpy(filter->jump + 1, &distance, sizeof distance);
}
