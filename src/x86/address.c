/* address.c: inserted code that computes the address of an operand in memory; see address.h. */
#include "x86/address.h"

#include "asm/operand.h"
#include "x86/sequence.h"

#include <stdio.h>
#include <string.h>

enum {
    RSP = 4
};

bool address_changes_flags(const struct access *access) {
    return access->thread || access->kind == ACCESS_BIT || access->kind == ACCESS_LINE;
}

/* Whether the operand is only the base register. */
static bool is_base_alone(const struct access_address *address) {
    char text[16];
    if (address->intel || address->access->base == NO_REGISTER)
        return false;
    int length = snprintf(text, sizeof text, "(%%%s)", register_name(address->access->base));
    return address->operand.length == (size_t)length &&
           memcmp(address->operand.start, text, (size_t)length) == 0;
}

/* Whether the operand has text before its registers. */
static bool has_displacement(const struct access_address *address) {
    if (address->intel)
        return address->operand.start[0] != '[';
    return displacement_of(address->operand).length > 0;
}

/* The text has no such operand: push, ret, leave. */
static void write_stack_address(struct buffer *out, const struct access *access, const char *name,
                                int raised) {
    int below = access->pushes ? access->size : 0; /* several pushes may be one access */
    int distance = (access->base == RSP ? raised : 0) - below;
    buffer_print(out, "leaq %d(%%%s), %%%s", distance, register_name(access->base), name);
}

/* leaq of the operand. The stack pointer is RAISED bytes lower than at the instruction. */
static void write_operand_address(struct buffer *out, const struct access_address *address, int reg,
                                  int raised) {
    const struct access *access = address->access;
    struct span operand = address->operand;
    const char *name = register_name(reg);
    if (access->absolute) {
        buffer_print(out, "movabsq $%.*s, %%%s", (int)operand.length, operand.start, name);
        return;
    }
    if (access->implicit) {
        buffer_print(out, "leaq (%%%s), %%%s", register_name(access->base), name);
        return;
    }
    if (access->kind == ACCESS_STACK) {
        write_stack_address(out, access, name, raised);
        return;
    }
    char shift[16] = "";
    raised += access->pops;
    if (access->base == RSP && raised)
        snprintf(shift, sizeof shift, has_displacement(address) ? "%d+" : "%d", raised);
    if (!shift[0] && is_base_alone(address)) /* costs nothing: the processor renames registers */
        buffer_print(out, "movq %%%s, %%%s", register_name(access->base), name);
    else if (address->intel)
        buffer_print(out, ".intel_syntax noprefix; lea %s, %s%.*s; .att_syntax prefix", name, shift,
                     (int)operand.length, operand.start);
    else
        buffer_print(out, "leaq %s%.*s, %%%s", shift, (int)operand.length, operand.start, name);
}

void write_address(struct buffer *out, const struct access_address *address, int reg, int raised) {
    const struct access *access = address->access;
    /* the result is the address of the bit's element; the bit's offset is signed */
    if (access->kind == ACCESS_BIT) {
        const char *name = register_name(reg);
        struct access plain = *access;
        struct access_address element = *address;
        uint8_t bits = (uint8_t)(access->element + 3);
        plain.kind = ACCESS_PLAIN;
        element.access = &plain;
        const char *extend = access->element == 1   ? "movswq"
                             : access->element == 2 ? "movslq"
                                                    : "movq";
        /* two steps, since REG may be a register of the operand */
        buffer_print(out, "pushq %%%s; ", register_name(access->bit_register));
        write_address(out, &element, reg, raised + 8);
        buffer_print(out, "; pushq %%%s; %s 8(%%rsp), %%%s; sarq $%u, %%%s; ", name, extend, name,
                     bits, name);
        buffer_print(out, "shlq $%u, %%%s; addq (%%rsp), %%%s; leaq 16(%%rsp), %%rsp",
                     access->element, name, name);
        return;
    }
    write_operand_address(out, address, reg, raised);
    if (access->kind == ACCESS_LINE)
        buffer_print(out, "; andq $-64, %%%s", register_name(reg));
    if (access->thread)
        buffer_print(out, "; addq %%fs:0, %%%s", register_name(reg));
}

void write_element_address(struct buffer *out, const struct access_address *address,
                           const char *scratch, int raised) {
    const struct access *access = address->access;
    struct span operand = address->operand;
    const char *vector = address->intel ? NULL : memmem(operand.start, operand.length, "mm", 2);
    if (vector) { /* "x(%rdi,%zmm1,4)" */
        const char *end = vector + 2;
        while (*end >= '0' && *end <= '9')
            end++;
        if (access->base == RSP)
            buffer_print(out, strchr("(", operand.start[0]) ? "leaq %d" : "leaq %d+", raised);
        else
            buffer_text(out, "leaq ");
        buffer_print(out, "%.*s%s%.*s, %%%s; ", (int)(vector - 1 - operand.start), operand.start,
                     scratch, (int)(operand.start + operand.length - end), end, scratch);
        return;
    }
    long long displacement = access->displacement + (access->base == RSP ? raised : 0);
    buffer_print(out, "leaq %lld(", displacement);
    if (access->base != NO_REGISTER)
        buffer_print(out, "%%%s", register_name(access->base));
    buffer_print(out, ",%%%s,%u), %%%s; ", scratch, access->scale, scratch);
}
