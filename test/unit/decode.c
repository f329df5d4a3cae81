// What the decoder says of instructions whose effects the SDM tells: sizes, classes, registers,
// flags, hidden operands, bytes of memory; and what objdump and assembly text call them.
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

/* Bytes read and written, and one of its names. */
static const struct {
    const char *text;
    uint8_t size;
    const char *bytes;
    uint16_t loaded, stored;
    const char *name;
} memory_rows[] = {
    {"push %rax", 1, "\x50", 0, 8, "pushq"},
    {"push (%rax)", 2, "\xff\x30", 8, 8, "push"},
    {"call *(%rax)", 2, "\xff\x10", 8, 8, "callq"},
    {"ret", 1, "\xc3", 8, 0, "ret"},
    {"leave", 1, "\xc9", 8, 0, "leave"},
    {"movsl %ds:(%rsi),%es:(%rdi)", 1, "\xa5", 4, 4, "movsl"},
    {"rep movsq %ds:(%rsi),%es:(%rdi)", 3, "\xf3\x48\xa5", 8, 8, "rep movsq"},
    {"repz cmpsb %es:(%rdi),%ds:(%rsi)", 2, "\xf3\xa6", 2, 0, "repz cmps"},
    {"rep stos %al,%es:(%rdi)", 2, "\xf3\xaa", 0, 1, "stosb"},
    {"lea 0x8(%rax),%rcx", 4, "\x48\x8d\x48\x08", 0, 0, "leaq"},
    {"prefetcht0 (%rax)", 3, "\x0f\x18\x08", 0, 0, "prefetcht0"},
    {"nopw 0x8(%rax)", 5, "\x66\x0f\x1f\x40\x08", 0, 0, "nopw"},
    {"clflush (%rax)", 3, "\x0f\xae\x38", 0, 0, "clflush"},
    {"vpgatherdd %ymm1,(%rax,%ymm2,4),%ymm3", 6, "\xc4\xe2\x75\x90\x1c\x90", 32, 0, "vpgatherdd"},
    {"vgatherdpd %ymm1,(%rax,%xmm2,4),%ymm3", 6, "\xc4\xe2\xf5\x92\x1c\x90", 32, 0, "vgatherdpd"},
    {"vgatherqps %xmm1,(%rax,%ymm2,4),%xmm3", 6, "\xc4\xe2\x75\x93\x1c\x90", 16, 0, "vgatherqps"},
    {"vpscatterdd %zmm3,(%rax,%zmm2,4){%k1}", 7, "\x62\xf2\x7d\x49\xa0\x1c\x90", 0, 64,
     "vpscatterdd"},
    {"vscatterqpd %zmm3,(%rax,%zmm2,4){%k1}", 7, "\x62\xf2\xfd\x49\xa3\x1c\x90", 0, 64,
     "vscatterqpd"},
    {"vaddps (%rax){1to16},%zmm1,%zmm2", 6, "\x62\xf1\x74\x58\x58\x10", 4, 0, "vaddps"},
    {"vmovdqu32 %zmm1,(%rax){%k1}", 6, "\x62\xf1\x7e\x49\x7f\x08", 0, 64, "vmovdqu32"},
    {"vpmaskmovd %ymm1,%ymm2,(%rax)", 5, "\xc4\xe2\x6d\x8e\x08", 0, 32, "vpmaskmovd"},
    {"fxsave (%rax)", 3, "\x0f\xae\x00", 0, 512, "fxsave"},
    {"fldt (%rax)", 2, "\xdb\x28", 10, 0, "fldt"},
    {"fildll (%rax)", 2, "\xdf\x28", 8, 0, "fildll"},
    {"fists (%rax)", 2, "\xdf\x10", 0, 2, "fists"},
    {"cmpxchg16b (%rax)", 4, "\x48\x0f\xc7\x08", 16, 16, "cmpxchg16b"},
    {"lock xadd %eax,(%rcx)", 4, "\xf0\x0f\xc1\x01", 4, 4, "lock xaddl"},
    {"movzbl (%rax),%ecx", 3, "\x0f\xb6\x08", 1, 0, "movzbl"},
    {"movslq (%rax),%rcx", 3, "\x48\x63\x08", 4, 0, "movslq"},
    {"cvtsi2sdl (%rax),%xmm0", 4, "\xf2\x0f\x2a\x00", 4, 0, "cvtsi2sdl"},
    {"movhps (%rax),%xmm0", 3, "\x0f\x16\x00", 8, 0, "movhps"},
    {"vbroadcastss (%rax),%ymm0", 5, "\xc4\xe2\x7d\x18\x00", 4, 0, "vbroadcastss"},
    {"btl $0x3,(%rcx)", 4, "\x0f\xba\x21\x03", 4, 0, "btl"},
    {"setbe %al", 3, "\x0f\x96\xc0", 0, 0, "setbe"},
    {"cmovg %eax,%ecx", 3, "\x0f\x4f\xc8", 0, 0, "cmovg"},
    {"cltq", 2, "\x48\x98", 0, 0, "cltq"},
    {"movabs $0x1122334455667788,%rax", 10, "\x48\xb8\x88\x77\x66\x55\x44\x33\x22\x11", 0, 0,
     "movabs"},
    {"enter $0x10,$0x0", 4, "\xc8\x10\x00\x00", 0, 8, "enter"},
    {"xlat %ds:(%rbx)", 1, "\xd7", 1, 0, "xlat"},
};

static bool is_called(const struct decoded *decoded, const char *name) {
    struct instruction_names names = instruction_names(decoded);
    for (uint32_t i = 0; i < names.count; i++)
        if (strcmp(names.of[i], name) == 0)
            return true;
    return false;
}

static int check_memory(void) {
    int failures = 0;
    for (size_t i = 0; i < sizeof memory_rows / sizeof *memory_rows; i++) {
        struct decoded d;
        memset(&d, 0, sizeof d);
        bool good =
            decode_instruction((const uint8_t *)memory_rows[i].bytes, memory_rows[i].size, &d);
        int32_t loaded = 0, stored = accessed_bytes(&d.store);
        for (int load = 0; load < d.load_count; load++)
            loaded += accessed_bytes(&d.loads[load]);
        if (good && loaded == memory_rows[i].loaded && stored == memory_rows[i].stored &&
            is_called(&d, memory_rows[i].name))
            continue;
        printf("%s: %d bytes loaded, %d stored, called '%s'\n", memory_rows[i].text, loaded, stored,
               instruction_names(&d).of[0]);
        failures++;
    }
    return failures;
}

static const struct {
    const char *text, *bytes;
    uint8_t size;
    uint16_t reg;
} address_rows[] = {
    {"lea 0x0(%rip),%rsi", "\x48\x8d\x35\0\0\0\0", 7, REGISTER_RSI},
    {"lea 0x0(%rip),%r9", "\x4c\x8d\x0d\0\0\0\0", 7, REGISTER_R9},
    {"lea 0x0(%rip),%esi", "\x8d\x35\0\0\0\0", 6, 0},
    {"lea 0x8(%rdi),%rsi", "\x48\x8d\x77\x08", 4, 0},
    {"mov $0x0,%edi", "\xbf\0\0\0\0", 5, REGISTER_RDI},
    {"mov $0x0,%rdi", "\x48\xc7\xc7\0\0\0\0", 7, REGISTER_RDI},
    {"movabs $0x0,%rdi", "\x48\xbf\0\0\0\0\0\0\0\0", 10, REGISTER_RDI},
    {"mov $0x0,%dil", "\x40\xb7\0", 3, 0},
    {"mov $0x0,%di", "\x66\xbf\0\0", 4, 0},
    {"movq $0x0,(%rdi)", "\x48\xc7\x07\0\0\0\0", 7, 0},
    {"mov 0x0(%rip),%rsi", "\x48\x8b\x35\0\0\0\0", 7, 0},
    {"mov %rax,%rdi", "\x48\x89\xc7", 3, 0},
    {"add $0x0,%edi", "\x83\xc7\0", 3, 0},
};

static int check_addresses(void) {
    int failures = 0;
    for (size_t i = 0; i < sizeof address_rows / sizeof *address_rows; i++) {
        struct decoded d;
        memset(&d, 0, sizeof d);
        if (decode_instruction((const uint8_t *)address_rows[i].bytes, address_rows[i].size, &d) &&
            d.size == address_rows[i].size && d.address_to == address_rows[i].reg)
            continue;
        printf("%s: an address to %x\n", address_rows[i].text, d.address_to);
        failures++;
    }
    return failures;
}

int main(void) {
    int failures = check_memory() + check_addresses();
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
