/* address.c: inserted code that computes the address of an operand in memory; see address.h. */
#include "x86/address.h"

#include "asm/operand.h"
#include "x86/sequence.h"

#include <stdio.h>
#include <string.h>

enum {
    RSP = 4
};

bool address_changes_flags(const struct store *store) {
    return store->thread || store->kind == STORE_BIT || store->kind == STORE_LINE;
}

/* Whether the operand is only the base register. */
static bool is_base_alone(const struct store_address *address) {
    char text[16];
    if (address->intel || address->store->base == NO_REGISTER)
        return false;
    int length = snprintf(text, sizeof text, "(%%%s)", register_name(address->store->base));
    return address->operand.length == (size_t)length &&
           memcmp(address->operand.start, text, (size_t)length) == 0;
}

/* Whether the operand has text before its registers. */
static bool has_displacement(const struct store_address *address) {
    if (address->intel)
        return address->operand.start[0] != '[';
    return displacement_of(address->operand).length > 0;
}

/* leaq of the operand. The stack pointer is RAISED bytes lower than at the store. */
static void write_operand_address(struct buffer *out, const struct store_address *address, int reg,
                                  int raised) {
    const struct store *store = address->store;
    struct span operand = address->operand;
    const char *name = register_name(reg);
    if (store->absolute) {
        buffer_print(out, "movabsq $%.*s, %%%s", (int)operand.length, operand.start, name);
        return;
    }
    if (store->implicit) {
        buffer_print(out, "leaq (%%%s), %%%s", register_name(store->base), name);
        return;
    }
    char shift[16] = "";
    raised += store->pops;
    if (store->base == RSP && raised)
        snprintf(shift, sizeof shift, has_displacement(address) ? "%d+" : "%d", raised);
    if (!shift[0] && is_base_alone(address)) /* costs nothing: the processor renames registers */
        buffer_print(out, "movq %%%s, %%%s", register_name(store->base), name);
    else if (address->intel)
        buffer_print(out, ".intel_syntax noprefix; lea %s, %s%.*s; .att_syntax prefix", name, shift,
                     (int)operand.length, operand.start);
    else
        buffer_print(out, "leaq %s%.*s, %%%s", shift, (int)operand.length, operand.start, name);
}

void write_address(struct buffer *out, const struct store_address *address, int reg, int raised) {
    const struct store *store = address->store;
    /* the result is the address of the bit's element; the bit's offset is signed */
    if (store->kind == STORE_BIT) {
        const char *name = register_name(reg);
        struct store plain = *store;
        struct store_address element = *address;
        uint8_t bits = (uint8_t)(store->element + 3);
        plain.kind = STORE_PLAIN;
        element.store = &plain;
        const char *extend = store->element == 1   ? "movswq"
                             : store->element == 2 ? "movslq"
                                                   : "movq";
        /* two steps, since REG may be a register of the operand */
        buffer_print(out, "pushq %%%s; ", register_name(store->bit_register));
        write_address(out, &element, reg, raised + 8);
        buffer_print(out, "; pushq %%%s; %s 8(%%rsp), %%%s; sarq $%u, %%%s; ", name, extend, name,
                     bits, name);
        buffer_print(out, "shlq $%u, %%%s; addq (%%rsp), %%%s; leaq 16(%%rsp), %%rsp",
                     store->element, name, name);
        return;
    }
    write_operand_address(out, address, reg, raised);
    if (store->kind == STORE_LINE)
        buffer_print(out, "; andq $-64, %%%s", register_name(reg));
    if (store->thread)
        buffer_print(out, "; addq %%fs:0, %%%s", register_name(reg));
}

void write_element_address(struct buffer *out, const struct store_address *address,
                           const char *scratch, int raised) {
    const struct store *store = address->store;
    struct span operand = address->operand;
    const char *vector = address->intel ? NULL : memmem(operand.start, operand.length, "mm", 2);
    if (vector) { /* "x(%rdi,%zmm1,4)" */
        const char *end = vector + 2;
        while (*end >= '0' && *end <= '9')
            end++;
        if (store->base == RSP)
            buffer_print(out, strchr("(", operand.start[0]) ? "leaq %d" : "leaq %d+", raised);
        else
            buffer_text(out, "leaq ");
        buffer_print(out, "%.*s%s%.*s, %%%s; ", (int)(vector - 1 - operand.start), operand.start,
                     scratch, (int)(operand.start + operand.length - end), end, scratch);
        return;
    }
    long long displacement = store->displacement + (store->base == RSP ? raised : 0);
    buffer_print(out, "leaq %lld(", displacement);
    if (store->base != NO_REGISTER)
        buffer_print(out, "%%%s", register_name(store->base));
    buffer_print(out, ",%%%s,%u), %%%s; ", scratch, store->scale, scratch);
}
