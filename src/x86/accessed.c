/* accessed.c: the addresses that an instruction accesses; see accessed.h.
 *
 * The Intel manual, volume 1, section 3.7.5 (addresses), volume 2 (masks, gathers, bit strings). */
#include "x86/accessed.h"

#include "x86/decode.h"

#include <string.h>

/* Returns the sum of the access's displacement and base. */
static uint64_t base_address(const struct access *access, const struct user_regs_struct *registers,
                             uint64_t next) {
    uint64_t address = (uint64_t)access->displacement + access->pops;
    if (access->base != NO_REGISTER)
        address += general_register(registers, access->base);
    if (access->relative)
        address += next;
    if (access->thread)
        address += registers->fs_base;
    if (access->segment)
        address += registers->gs_base;
    return address;
}

/* A bit's number is signed, and as wide as an element. */
static int64_t bit_number(const struct access *access, const struct user_regs_struct *registers) {
    int64_t number = (int64_t)general_register(registers, access->bit_register);
    return access->element == 1 ? (int16_t)number : access->element == 2 ? (int32_t)number : number;
}

/* Not for ACCESS_SCATTERED. */
static uint64_t first_address(const struct access *access, const struct user_regs_struct *registers,
                              uint64_t next) {
    uint64_t address = base_address(access, registers, next);
    uint64_t index = access->index != NO_REGISTER ? general_register(registers, access->index) : 0;
    switch (access->kind) {
    case ACCESS_STACK:
        return address - (uint64_t)access->pushes;
    case ACCESS_LINE:
        return address & ~(uint64_t)63;
    case ACCESS_BYTE:
        return address + (index & 0xff);
    case ACCESS_BIT:
        address += (uint64_t)(bit_number(access, registers) >> (access->element + 3))
                   << access->element;
        break;
    default:
        break;
    }
    address += index * access->scale;
    return access->narrow ? (uint32_t)address : address;
}

/* ---- masks and scattered elements ---- */

static bool sign_of(const uint8_t *vector, unsigned number, unsigned element) {
    return vector[((number + 1) << element) - 1] >> 7;
}

/* Returns the bits of the first COUNT elements that the mask selects. */
static uint64_t selected(const struct access *access, const struct access_values *values,
                         unsigned count) {
    uint64_t bits = 0;
    if (access->mask_kind == MASK_REGISTER)
        bits = values->bits;
    else
        for (unsigned i = 0; i < count; i++)
            bits |= (uint64_t)sign_of(values->signs, i, access->element) << i;
    return count < 64 ? bits & (((uint64_t)1 << count) - 1) : bits;
}

/* A broadcast uses each element several times: it is read if one of its bits is set. */
static uint64_t fold(uint64_t bits, unsigned bit_count, unsigned element_count) {
    uint64_t folded = 0;
    for (unsigned i = 0; i < bit_count; i++)
        folded |= (bits >> i & 1) << i % element_count;
    return folded;
}

static void masked_parts(const struct access *access, const struct access_values *values,
                         uint64_t address, take_part *take, void *context) {
    unsigned count = access->size >> access->element;
    uint64_t element = (uint64_t)1 << access->element, bits;
    if (access->mask_kind == MASK_REGISTER)
        bits = fold(selected(access, values, access->mask_count), access->mask_count, count);
    else
        bits = selected(access, values, count);
    if (access->compresses)
        bits = ((uint64_t)1 << __builtin_popcountll(bits)) - 1;
    for (unsigned i = 0; i < count; i++)
        if (bits >> i & 1)
            take(context, address + i * element, element);
}

static int64_t index_of(const struct access *access, const uint8_t *vector, unsigned number) {
    int64_t wide;
    int32_t narrow;
    memcpy(&wide, vector + 8 * (number % 8), sizeof wide);
    memcpy(&narrow, vector + 4 * number, sizeof narrow);
    return access->wide_indices ? wide : narrow;
}

static void scattered_parts(const struct access *access, const struct access_values *values,
                            uint64_t next, take_part *take, void *context) {
    uint64_t address = base_address(access, &values->general, next);
    uint64_t bits = selected(access, values, access->count);
    for (unsigned i = 0; i < access->count; i++)
        if (bits >> i & 1)
            take(context, address + (uint64_t)index_of(access, values->indices, i) * access->scale,
                 access->size);
}

struct access_values access_values(const struct access *access, const struct registers *registers) {
    struct access_values values = {.general = registers->general,
                                   .state_size = registers->vector_size};
    if (access->kind == ACCESS_SCATTERED)
        vector_register(registers, access->index_vector, values.indices);
    if (access->kind != ACCESS_SCATTERED && access->kind != ACCESS_MASKED)
        return values;
    if (access->mask_kind == MASK_REGISTER)
        values.bits = mask_register(registers, access->mask);
    else
        vector_register(registers, access->mask, values.signs);
    return values;
}

void accessed_parts(const struct access *access, const struct access_values *values, uint64_t next,
                    take_part *take, void *context) {
    uint64_t address;
    switch (access->kind) {
    case ACCESS_NONE:
        return;
    case ACCESS_SCATTERED:
        scattered_parts(access, values, next, take, context);
        return;
    case ACCESS_MASKED:
        address = first_address(access, &values->general, next);
        masked_parts(access, values, address, take, context);
        return;
    case ACCESS_BIT:
        take(context, first_address(access, &values->general, next),
             (uint64_t)1 << access->element);
        return;
    case ACCESS_STATE:
        take(context, first_address(access, &values->general, next),
             values->state_size > access->size ? values->state_size : access->size);
        return;
    default:
        take(context, first_address(access, &values->general, next), access->size);
        return;
    }
}

/* ---- behind a store ---- */

static bool has_one_range(const struct access *store) {
    return store->kind != ACCESS_NONE && store->kind != ACCESS_SCATTERED &&
           store->kind != ACCESS_STRING;
}

/* The registers in the address must be the same as in front of the instruction. A push stores at
 * the new stack pointer, and enter at the new frame pointer. */
bool stored_range(const uint8_t *code, size_t count, uint64_t address, pid_t thread,
                  uint64_t *begin, uint64_t *end) {
    struct decoded decoded;
    struct user_regs_struct registers;
    if (!decode_instruction(code, count, &decoded) || !get_general_registers(thread, &registers))
        return false;
    const struct access *store = &decoded.store;
    if (store->kind == ACCESS_STACK)
        *begin = store->enters ? registers.rbp : registers.rsp;
    else if (has_one_range(store) && !(decoded.registers_written & store->registers))
        *begin = first_address(store, &registers, address + decoded.size);
    else
        return false;
    *end = *begin + store->size;
    return true;
}
