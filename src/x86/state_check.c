/* state_check.c: see state_check.h.
 *
 * The Intel manual, volume 2. Flags are kept by LAHF and SETO, so nothing is written to the stack.
 * All data are addressed relative to the instruction pointer. */
#include "x86/state_check.h"

#include "x86/decode.h"
#include "x86/trap.h"

#include <string.h>

enum {
    REX_WIDE = 0x48,
    REX_REGISTER = 0x44, /* the register's number is 8 or more */
    LOAD = 0x8b,
    STORE = 0x89,
    COMPARE = 0x3b, /* a register with memory */
    ADDRESS = 0x8d,
    JUMPS_MAX = 64,
    /* in the area of fxsave */
    FLOATS_PLACE = 32,
    VECTORS_PLACE = 160
};

enum {
    RAX = 0,
    RCX = 1,
    RSI = 6,
    RDI = 7
};

/* Places of registers in `saved`. */
enum {
    SAVED_RAX,
    SAVED_FLAGS,
    SAVED_RCX,
    SAVED_RSI,
    SAVED_RDI
};

struct output {
    const struct state_check *check;
    uint8_t *code;
    size_t count;
    size_t misses[JUMPS_MAX]; /* behind jumps to where the state is another one */
    unsigned miss_count;
};

static void put(struct output *output, const uint8_t *bytes, size_t count) {
    memcpy(output->code + output->count, bytes, count);
    output->count += count;
}

#define PUT(output, ...)                                                                           \
    put(output, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_distance(struct output *output, uint64_t target) {
    int32_t distance = (int32_t)(target - (output->check->code + output->count + 4));
    put(output, (const uint8_t *)&distance, sizeof distance);
}

/* An instruction with a register and the data at OFFSET. */
static void put_access(struct output *output, uint8_t operation, unsigned number, size_t offset) {
    PUT(output, (uint8_t)(REX_WIDE | (number >= 8 ? REX_REGISTER : 0)), operation,
        (uint8_t)((number & 7) << 3 | 5));
    put_distance(output, output->check->data + offset);
}

static size_t saved(unsigned place) {
    return offsetof(struct state_check_data, saved) + place * sizeof(uint64_t);
}

/* jne to where the state is another one. */
static void put_miss(struct output *output) {
    PUT(output, 0x0f, 0x85, 0, 0, 0, 0);
    output->misses[output->miss_count++] = output->count;
}

/* The jumps of the part go to here. */
static void land_misses(struct output *output) {
    while (output->miss_count) {
        size_t behind = output->misses[--output->miss_count];
        int32_t distance = (int32_t)(output->count - behind);
        memcpy(output->code + behind - sizeof distance, &distance, sizeof distance);
    }
}

/* Compares as many words as the data at COUNT tell, of the memory at (%rsi), with those at
 * (%rdi). */
static void put_loop(struct output *output) {
    static const uint8_t load_and_compare[] = {REX_WIDE, LOAD, 0x06, REX_WIDE, COMPARE, 0x07};
    static const uint8_t step[] = {REX_WIDE, 0x83, 0xc6,     8,    REX_WIDE, 0x83,
                                   0xc7,     8,    REX_WIDE, 0xff, 0xc9}; /* add, add, dec %rcx */
    size_t begin = output->count;
    put(output, load_and_compare, sizeof load_and_compare);
    put_miss(output);
    put(output, step, sizeof step);
    PUT(output, 0x75, (uint8_t)(begin - (output->count + 2))); /* jne */
}

static void put_stack(struct output *output) {
    PUT(output, REX_WIDE, ADDRESS, 0x74, 0x24, (uint8_t)-RED_ZONE); /* (%rsp), to %rsi */
    put_access(output, ADDRESS, RDI, offsetof(struct state_check_data, stack));
    put_access(output, LOAD, RCX, offsetof(struct state_check_data, stack_count));
    put_loop(output);
}

/* Stores the registers of the x87 and of vectors, and compares them. */
static void put_vectors(struct output *output) {
    const size_t area = offsetof(struct state_check_data, area);
    PUT(output, REX_WIDE, 0x0f, 0xae, 0x05); /* fxsave64 */
    put_distance(output, output->check->data + area);
    put_access(output, ADDRESS, RSI, area + VECTORS_PLACE);
    put_access(output, ADDRESS, RDI, offsetof(struct state_check_data, vectors));
    PUT(output, 0xb9, CHECK_VECTORS * CHECK_VECTOR_BYTES / 8, 0, 0, 0); /* mov, to %ecx */
    put_loop(output);
    put_access(output, ADDRESS, RSI, area + FLOATS_PLACE);
    put_access(output, ADDRESS, RDI, offsetof(struct state_check_data, floats));
    put_access(output, LOAD, RCX, offsetof(struct state_check_data, float_count));
    PUT(output, REX_WIDE, 0x85, 0xc9, 0x74, 0); /* test %rcx, je */
    size_t behind = output->count;
    put_loop(output);
    output->code[behind - 1] = (uint8_t)(output->count - behind);
}

static void put_words(struct output *output) {
    static const uint8_t compare[] = {REX_WIDE, LOAD,    0x06,     /* (%rsi), %rax */
                                      REX_WIDE, LOAD,    0x00,     /* (%rax), %rax */
                                      REX_WIDE, COMPARE, 0x46, 8}; /* 8(%rsi) */
    static const uint8_t step[] = {REX_WIDE, 0x83, 0xc6, sizeof(struct checked_word),
                                   REX_WIDE, 0xff, 0xc9};
    put_access(output, ADDRESS, RSI, offsetof(struct state_check_data, words));
    put_access(output, LOAD, RCX, offsetof(struct state_check_data, word_count));
    PUT(output, REX_WIDE, 0x85, 0xc9, 0x74, 0); /* test %rcx, je */
    size_t behind = output->count;
    put(output, compare, sizeof compare);
    put_miss(output);
    put(output, step, sizeof step);
    PUT(output, 0x75, (uint8_t)(behind - (output->count + 2)));
    output->code[behind - 1] = (uint8_t)(output->count - behind);
}

static void put_flags(struct output *output) {
    put_access(output, LOAD, RAX, saved(SAVED_FLAGS));
    PUT(output, 0x04, 0x7f, 0x9e); /* add $127, %al; sahf */
    put_access(output, LOAD, RAX, saved(SAVED_RAX));
}

static void put_late_registers(struct output *output) {
    put_access(output, LOAD, RCX, saved(SAVED_RCX));
    put_access(output, LOAD, RSI, saved(SAVED_RSI));
    put_access(output, LOAD, RDI, saved(SAVED_RDI));
}

/* Loads the quick value to %rcx, which was saved. */
static void put_quick_load(struct output *output) {
    const struct quick_value *quick = &output->check->quick;
    if (quick->kind == QUICK_STACK) {
        int32_t distance = (int32_t)(quick->place * sizeof(uint64_t)) - RED_ZONE;
        PUT(output, REX_WIDE, LOAD, 0x8c, 0x24); /* distance(%rsp) */
        put(output, (const uint8_t *)&distance, sizeof distance);
    } else if (quick->kind == QUICK_WORD) {
        put_access(output, LOAD, RCX, offsetof(struct state_check_data, quick[1]));
        PUT(output, REX_WIDE, LOAD, 0x09); /* (%rcx) */
    } else if (quick->place != RCX) {
        PUT(output, (uint8_t)(REX_WIDE | (quick->place >= 8 ? REX_REGISTER : 0)), STORE,
            (uint8_t)(0xc0 | (quick->place & 7) << 3 | RCX));
    }
}

/* Goes on behind it, with %rcx and %rax saved, where the quick value is the wanted one. The sum
 * with its negative is compared with 0 by jrcxz, as no flag may change. */
static void put_quick(struct output *output) {
    put_access(output, STORE, RCX, saved(SAVED_RCX));
    put_quick_load(output);
    put_access(output, STORE, RAX, saved(SAVED_RAX));
    put_access(output, LOAD, RAX, offsetof(struct state_check_data, quick));
    PUT(output, REX_WIDE, ADDRESS, 0x0c, 0x01); /* (%rcx, %rax), to %rcx */
    put_access(output, LOAD, RAX, saved(SAVED_RAX));
    PUT(output, 0xe3, 0); /* jrcxz */
}

/* Compares general registers, with the flags and %rax saved. */
static void put_general(struct output *output) {
    put_access(output, STORE, RAX, saved(SAVED_RAX));
    PUT(output, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto %al */
    put_access(output, STORE, RAX, saved(SAVED_FLAGS));
    put_access(output, LOAD, RAX, saved(SAVED_RAX));
    for (unsigned i = 0; i < GENERAL_REGISTERS; i++) {
        put_access(output, COMPARE, i,
                   offsetof(struct state_check_data, general) + i * sizeof(uint64_t));
        put_miss(output);
    }
}

/* The instructions that were moved, and the jump back. */
static bool put_moved(struct output *output, struct state_check *check) {
    check->moved = check->code + output->count;
    bool good = move_code(check->bytes, check->size, check->address, check->moved,
                          output->code + output->count);
    output->count += check->size;
    good = good && write_long_jump(output->code + output->count, check->code + output->count,
                                   check->address + check->size);
    output->count += LONG_JUMP_SIZE;
    return good;
}

/* The comparison of the whole state, up to the breakpoint; differences lead behind that, and then
 * to the moved instructions. */
static void put_whole(struct output *output, struct state_check *check) {
    put_general(output);
    struct output early = *output;
    output->miss_count = 0;
    put_access(output, STORE, RSI, saved(SAVED_RSI));
    put_access(output, STORE, RDI, saved(SAVED_RDI));
    put_stack(output);
    put_vectors(output);
    put_words(output);
    put_late_registers(output);
    put_flags(output);
    PUT(output, BREAKPOINT_BYTE);
    check->found = check->code + output->count;
    land_misses(output);
    put_late_registers(output);
    early.count = output->count;
    land_misses(&early);
    put_flags(output);
    PUT(output, 0xe9);
    put_distance(output, check->moved);
}

bool write_state_check(struct state_check *check, uint8_t code[CHECK_CODE_MAX],
                       uint8_t jump[LONG_JUMP_SIZE]) {
    struct output output = {.check = check, .code = code};
    put_quick(&output);
    size_t behind = output.count;
    put_access(&output, LOAD, RCX, saved(SAVED_RCX));
    bool good = put_moved(&output, check);
    code[behind - 1] = (uint8_t)(output.count - behind);
    put_access(&output, LOAD, RCX, saved(SAVED_RCX));
    put_whole(&output, check);
    return good && output.count <= CHECK_CODE_MAX &&
           write_long_jump(jump, check->address, check->code);
}

uint64_t checked_counter(const struct state_check_data *data) {
    return data->saved[SAVED_RCX];
}

uint64_t unmoved_address(const struct state_check *check, uint64_t address) {
    return address - check->moved <= check->size ? check->address + (address - check->moved) : 0;
}

bool is_in_check(const struct state_check *check, uint64_t address) {
    return address - check->code < CHECK_CODE_MAX;
}
