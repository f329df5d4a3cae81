/* counter_read.c: instructions that read the time stamp counter; see counter_read.h.
 *
 * The Intel manual, volume 2: RDTSC (0f 31), RDTSCP (0f 01 f9), UD2 (0f 0b). */
#include "x86/counter_read.h"

#include "x86/decode.h"
#include "x86/registers.h"

#include <string.h>
#include <x86intrin.h>

static const uint8_t rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9}, ud2[] = {0x0f, 0x0b};

unsigned counter_read_size(const uint8_t *code, size_t count) {
    if (count >= sizeof rdtsc && memcmp(code, rdtsc, sizeof rdtsc) == 0)
        return sizeof rdtsc;
    if (count >= sizeof rdtscp && memcmp(code, rdtscp, sizeof rdtscp) == 0)
        return sizeof rdtscp;
    return 0;
}

size_t find_counter_read(const uint8_t *code, size_t count, size_t from) {
    while (from < count) {
        const uint8_t *next = memchr(code + from, *rdtsc, count - from);
        if (!next)
            return count;
        from = (size_t)(next - code);
        if (counter_read_size(next, count - from))
            return from;
        from++;
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

uint64_t read_counter(uint32_t *processor) {
    return __rdtscp(processor);
}

bool answer_counter_read(pid_t thread, unsigned size, uint64_t value, uint32_t processor) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return false;
    registers.rax = value & UINT32_MAX;
    registers.rdx = value >> 32;
    if (size == sizeof rdtscp)
        registers.rcx = processor;
    registers.rip += size;
    return set_general_registers(thread, &registers);
}
