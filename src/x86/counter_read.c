/* counter_read.c: instructions whose result comes from outside; see counter_read.h.
 *
 * The Intel manual, volume 2: RDTSC (0f 31), RDTSCP (0f 01 f9), CPUID (0f a2: the leaf in eax, its
 * part in ecx), UD2 (0f 0b); RDRAND and RDSEED: 66 for 16 bits, REX, 0f c7, and a register, by /6
 * and /7. They set the carry flag if there was a number, else their result is 0; all other status
 * flags are 0 behind them. */
#include "x86/counter_read.h"

#include "x86/decode.h"
#include "x86/registers.h"

#include <cpuid.h>
#include <string.h>
#include <x86intrin.h>

enum {
    ESCAPE = 0x0f,
    GROUP = 0xc7,
    OPERAND_SIZE = 0x66,
    REX = 0x40,
    REX_WIDE = 8,
    REX_REGISTER = 1,
    PREFIXES_MAX = 2,
    EFLAGS_OF_STATUS = 0x8d5 /* CF, PF, AF, ZF, SF, OF */
};

static const uint8_t rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9}, cpuid[] = {0x0f, 0xa2},
                     ud2[] = {0x0f, 0x0b};

/* rdrand or rdseed. */
struct random_read {
    unsigned size; /* of the instruction */
    unsigned bits; /* of the register */
    unsigned number;
    bool is_seed;
};

/* Takes the instruction at CODE apart if it is one of them. */
static bool take_random_read(const uint8_t *code, size_t count, struct random_read *read) {
    size_t at = 0;
    bool is_short = count && code[0] == OPERAND_SIZE;
    at += is_short;
    unsigned rex = at < count && (code[at] & 0xf0) == REX ? code[at] : 0;
    at += rex != 0;
    if (count < at + 3 || code[at] != ESCAPE || code[at + 1] != GROUP || code[at + 2] < 0xf0)
        return false;
    *read = (struct random_read){
        .size = (unsigned)at + 3,
        .bits = rex & REX_WIDE ? 64
                : is_short     ? 16
                               : 32,
        .number = (code[at + 2] & 7u) + (rex & REX_REGISTER ? 8 : 0),
        .is_seed = code[at + 2] & 8,
    };
    return true;
}

static bool has_random(bool is_seed) {
    static bool is_asked, has_rand, has_seed; /* in a virtual machine the answer is slow */
    unsigned a, b = 0, c = 0, d;
    if (!is_asked) {
        has_rand = __get_cpuid(1, &a, &b, &c, &d) && c & bit_RDRND;
        has_seed = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_RDSEED;
        is_asked = true;
    }
    return is_seed ? has_seed : has_rand;
}

static bool begins_with(const uint8_t *code, size_t count, const uint8_t *bytes, size_t size) {
    return count >= size && memcmp(code, bytes, size) == 0;
}

bool is_time_read(const uint8_t *code, size_t count) {
    return begins_with(code, count, rdtsc, sizeof rdtsc) ||
           begins_with(code, count, rdtscp, sizeof rdtscp);
}

static bool is_cpuid(const uint8_t *code, size_t count) {
    return begins_with(code, count, cpuid, sizeof cpuid);
}

unsigned counter_read_size(const uint8_t *code, size_t count) {
    struct random_read read;
    if (is_cpuid(code, count))
        return sizeof cpuid;
    if (begins_with(code, count, rdtsc, sizeof rdtsc))
        return sizeof rdtsc;
    if (begins_with(code, count, rdtscp, sizeof rdtscp))
        return sizeof rdtscp;
    return take_random_read(code, count, &read) && has_random(read.is_seed) ? read.size : 0;
}

/* Prefixes may stand in front of the first byte that all have. */
size_t find_counter_read(const uint8_t *code, size_t count, size_t from) {
    size_t next = from;
    while (next < count) {
        const uint8_t *found = memchr(code + next, ESCAPE, count - next);
        if (!found)
            return count;
        next = (size_t)(found - code);
        size_t at = next - from < PREFIXES_MAX ? from : next - PREFIXES_MAX;
        for (; at <= next; at++)
            if (counter_read_size(code + at, count - at))
                return at;
        next++;
    }
    return count;
}

bool is_instruction_at(const uint8_t *code, size_t count, size_t offset) {
    size_t at = 0;
    while (at < offset) {
        struct decoded decoded;
        if (!decode_instruction(code + at, count - at, &decoded))
            return false;
        at += decoded.size;
    }
    return at == offset;
}

void replace_counter_read(uint8_t *code) {
    memcpy(code, ud2, sizeof ud2);
}

static struct counter_value read_random(const struct random_read *read) {
    struct counter_value value;
    uint8_t carry;
    if (read->is_seed)
        __asm__ volatile("rdseed %0; setc %1" : "=r"(value.value), "=qm"(carry)::"cc");
    else
        __asm__ volatile("rdrand %0; setc %1" : "=r"(value.value), "=qm"(carry)::"cc");
    value.detail = carry;
    return value;
}

static struct counter_value read_time(void) {
    unsigned processor;
    uint64_t time = __rdtscp(&processor);
    return (struct counter_value){time, processor};
}

static struct counter_value read_cpuid(uint32_t leaf, uint32_t part) {
    uint32_t a, b, c, d;
    __cpuid_count(leaf, part, a, b, c, d);
    return (struct counter_value){(uint64_t)b << 32 | a, (uint64_t)d << 32 | c};
}

struct counter_value read_counter(const uint8_t *code, unsigned size,
                                  const struct user_regs_struct *registers) {
    struct random_read read;
    if (is_cpuid(code, size))
        return read_cpuid((uint32_t)registers->rax, (uint32_t)registers->rcx);
    return take_random_read(code, size, &read) ? read_random(&read) : read_time();
}

static void answer_random_read(struct user_regs_struct *registers, const struct random_read *read,
                               const struct counter_value *value) {
    uint64_t mask = read->bits == 16 ? UINT16_MAX : read->bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t kept = read->bits == 16 ? ~mask : 0;
    uint64_t result = general_register(registers, read->number) & kept;
    put_general_register(registers, read->number, result | (value->value & mask));
    registers->eflags &= ~(unsigned long long)EFLAGS_OF_STATUS;
    registers->eflags |= value->detail & 1;
}

static void answer_time_read(struct user_regs_struct *registers, bool has_processor,
                             const struct counter_value *value) {
    registers->rax = value->value & UINT32_MAX;
    registers->rdx = value->value >> 32;
    if (has_processor)
        registers->rcx = value->detail & UINT32_MAX;
}

static void answer_cpuid(struct user_regs_struct *registers, const struct counter_value *value) {
    registers->rax = value->value & UINT32_MAX;
    registers->rbx = value->value >> 32;
    registers->rcx = value->detail & UINT32_MAX;
    registers->rdx = value->detail >> 32;
}

bool answer_counter_read(pid_t thread, const uint8_t *code, unsigned size,
                         const struct counter_value *value) {
    struct user_regs_struct registers;
    struct random_read read;
    if (!get_general_registers(thread, &registers))
        return false;
    if (is_cpuid(code, size))
        answer_cpuid(&registers, value);
    else if (is_time_read(code, size))
        answer_time_read(&registers, size == sizeof rdtscp, value);
    else if (take_random_read(code, size, &read))
        answer_random_read(&registers, &read, value);
    else
        return false;
    registers.rip += size;
    return set_general_registers(thread, &registers);
}
