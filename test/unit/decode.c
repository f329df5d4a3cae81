// What the decoder says of instructions whose effects the SDM tells: sizes, classes, registers,
// flags, hidden operands.
#include "x86/decode.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    const char *bytes;
    uint8_t size;
    uint8_t class;
    uint16_t read, written; /* must be among those told */
    uint8_t flags_read, flags_written;
    bool repeats;
} rows[] = {
    {"nop", "\x90", 1, CLASS_PLAIN, 0, 0, 0, 0, false},
    {"ret", "\xc3", 1, CLASS_RETURN, REGISTER_RSP, REGISTER_RSP, 0, 0, false},
    {"jmp +0", "\xeb\x00", 2, CLASS_JUMP, 0, 0, 0, 0, false},
    {"jmp *%rax", "\xff\xe0", 2, CLASS_JUMP_INDIRECT, REGISTER_RAX, 0, 0, 0, false},
    {"notrack jmp *%rax", "\x3e\xff\xe0", 3, CLASS_JUMP_INDIRECT, REGISTER_RAX, 0, 0, 0, false},
    {"je +0", "\x74\x00", 2, CLASS_CONDITIONAL, 0, 0, FLAG_ZERO, 0, false},
    {"jl +0", "\x0f\x8c\0\0\0\0", 6, CLASS_CONDITIONAL, 0, 0, FLAG_SIGN | FLAG_OVERFLOW, 0, false},
    {"loop +0", "\xe2\x00", 2, CLASS_CONDITIONAL_NEAR, REGISTER_RCX, REGISTER_RCX, 0, 0, false},
    {"jrcxz +0", "\xe3\x00", 2, CLASS_CONDITIONAL_NEAR, REGISTER_RCX, 0, 0, 0, false},
    {"call +0", "\xe8\0\0\0\0", 5, CLASS_CALL, REGISTER_RSP, REGISTER_RSP, 0, 0, false},
    {"call *(%rbx)", "\xff\x13", 2, CLASS_CALL_INDIRECT, REGISTER_RBX, REGISTER_RSP, 0, 0, false},
    {"syscall", "\x0f\x05", 2, CLASS_SYSTEM, 0, REGISTER_RCX | REGISTER_R11, 0, 0, false},
    {"ud2", "\x0f\x0b", 2, CLASS_STOP, 0, 0, 0, 0, false},
    {"hlt", "\xf4", 1, CLASS_STOP, 0, 0, 0, 0, false},
    {"mov %r11,%rax", "\x4c\x89\xd8", 3, CLASS_PLAIN, REGISTER_R11, REGISTER_RAX, 0, 0, false},
    {"add %ecx,%eax", "\x01\xc8", 2, CLASS_PLAIN, REGISTER_RAX | REGISTER_RCX, REGISTER_RAX, 0,
     FLAGS_ALL, false},
    {"inc %eax", "\xff\xc0", 2, CLASS_PLAIN, REGISTER_RAX, REGISTER_RAX, 0, FLAGS_ALL & ~FLAG_CARRY,
     false},
    {"adc $0,%ebx", "\x83\xd3\x00", 3, CLASS_PLAIN, REGISTER_RBX, REGISTER_RBX, FLAG_CARRY,
     FLAGS_ALL, false},
    {"setb %cl", "\x0f\x92\xc1", 3, CLASS_PLAIN, 0, REGISTER_RCX, FLAG_CARRY, 0, false},
    {"cmovs %rdx,%rsi", "\x48\x0f\x48\xf2", 4, CLASS_PLAIN, REGISTER_RDX, REGISTER_RSI, FLAG_SIGN,
     0, false},
    {"mul %rcx", "\x48\xf7\xe1", 3, CLASS_PLAIN, REGISTER_RAX | REGISTER_RCX,
     REGISTER_RAX | REGISTER_RDX, 0, FLAG_CARRY | FLAG_OVERFLOW, false},
    {"cqo", "\x48\x99", 2, CLASS_PLAIN, REGISTER_RAX, REGISTER_RDX, 0, 0, false},
    {"cpuid", "\x0f\xa2", 2, CLASS_PLAIN, REGISTER_RAX, REGISTER_RBX, 0, 0, false},
    {"rep stosb", "\xf3\xaa", 2, CLASS_PLAIN, REGISTER_RAX | REGISTER_RCX | REGISTER_RDI,
     REGISTER_RCX | REGISTER_RDI, 0, 0, true},
    {"repne scasb", "\xf2\xae", 2, CLASS_PLAIN, REGISTER_RAX | REGISTER_RCX | REGISTER_RDI,
     REGISTER_RCX | REGISTER_RDI, 0, 0, true}, /* no flag is written where %rcx is 0 */
    {"cmpsb", "\xa6", 1, CLASS_PLAIN, REGISTER_RSI | REGISTER_RDI, REGISTER_RSI | REGISTER_RDI, 0,
     FLAGS_ALL, false},
    {"movsb", "\xa4", 1, CLASS_PLAIN, REGISTER_RSI | REGISTER_RDI, REGISTER_RSI | REGISTER_RDI, 0,
     0, false},
    {"repz ret", "\xf3\xc3", 2, CLASS_RETURN, REGISTER_RSP, REGISTER_RSP, 0, 0, false},
    {"bt %eax,%ecx", "\x0f\xa3\xc1", 3, CLASS_PLAIN, REGISTER_RAX | REGISTER_RCX, 0, 0, FLAG_CARRY,
     false},
    {"lea 8(%r8,%r9,4),%r10", "\x4f\x8d\x54\x88\x08", 5, CLASS_PLAIN, REGISTER_R8 | REGISTER_R9,
     REGISTER_R10, 0, 0, false},
    {"push %rbp", "\x55", 1, CLASS_PLAIN, REGISTER_RBP | REGISTER_RSP, REGISTER_RSP, 0, 0, false},
    {"lahf", "\x9f", 1, CLASS_PLAIN, 0, REGISTER_RAX,
     FLAG_CARRY | FLAG_PARITY | FLAG_ADJUST | FLAG_ZERO | FLAG_SIGN, 0, false},
    {"vpgatherdd (%rax,%ymm1,4)", "\xc4\xe2\x6d\x90\x04\x88", 6, CLASS_PLAIN, REGISTER_RAX, 0, 0, 0,
     false},
    {"vpaddd (%rdi),%zmm1,%zmm0{%k1}", "\x62\xf1\x75\x49\xfe\x07", 6, CLASS_PLAIN, REGISTER_RDI, 0,
     0, 0, false},
};

int main(void) {
    int failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct decoded d;
        uint8_t code[16] = {0};
        memset(&d, 0, sizeof d);
        memcpy(code, rows[i].bytes, rows[i].size);
        bool good = decode_instruction(code, rows[i].size, &d) && d.size == rows[i].size &&
                    d.class == rows[i].class && (rows[i].read & ~d.registers_read) == 0 &&
                    (rows[i].written & ~d.registers_written) == 0 &&
                    (rows[i].flags_read & ~d.flags_read) == 0 &&
                    (rows[i].flags_written & ~d.flags_written) == 0 && d.repeats == rows[i].repeats;
        /* A register that is not told as written may be taken for a free one. */
        good &= (d.registers_killed & ~d.registers_written) == 0;
        if (!good) {
            printf("%s: size %d class %d read %x written %x flags %x %x repeats %d\n", rows[i].text,
                   d.size, d.class, d.registers_read, d.registers_written, d.flags_read,
                   d.flags_written, d.repeats);
            failures++;
        }
        struct decoded cut;
        if (decode_instruction(code, rows[i].size - 1u, &cut) && cut.size >= rows[i].size) {
            printf("%s: decoded with its last byte missing\n", rows[i].text);
            failures++;
        }
    }
    return failures != 0;
}
