// What the decoder says of operands in memory, against the processor: each instruction runs in a
// child, with random registers. Where all memory is missing, the address of the fault is one that
// the description has. Where memory ends behind an operand, there is no fault; one byte further,
// there is one. Memory that can only be read tells loads from stores.
#include "x86/accessed.h"
#include "x86/decode.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* An instruction: its bytes and its text. The assembler makes the table. */
struct row {
    const uint8_t *begin, *end;
    const char *text;
};

#define ROW(text)                                                                                  \
    "1: " text "\n2: .pushsection instruction_rows, \"aw\"; .quad 1b, 2b, 3f; .popsection\n"       \
    ".pushsection .rodata; 3: .asciz \"" text "\"; .popsection\n"

/* clang-format off */
__asm__(".pushsection .rodata\n"
    ROW("movl (%rax), %ecx")
    ROW("movb %cl, 8(%rax,%rdx,2)")
    ROW("addq %rcx, (%rbx,%rsi,8)")
    ROW("lock xaddl %eax, 4(%r13)")
    ROW("cmpxchg16b (%r8)")
    ROW("xchgq %rax, (%rdi)")
    ROW("movzbl -1(%r12,%r9,4), %ecx")
    ROW("movslq (%rsp), %rcx")
    ROW("movl 8(%eax), %ecx")
    ROW("movl %ecx, (%r10d,%r11d,4)")
    ROW("incl 4096(%rip)")
    ROW("pushq %rax")
    ROW("pushw %ax")
    ROW("pushq (%rax)")
    ROW("pushq 8(%rsp)")
    ROW("pushfq")
    ROW("pushq $1")
    ROW("popq %rax")
    ROW("popq (%rbx)")
    ROW("popq 16(%rsp)")
    ROW("popw %ax")
    ROW("popfq")
    ROW("call . + 5")
    ROW("call *%rax")
    ROW("call *(%rax)")
    ROW("ret")
    ROW("ret $16")
    ROW("leave")
    ROW("enter $16, $0")
    ROW("jmp *(%rcx)")
    ROW("movsb")
    ROW("movsq")
    ROW("stosl")
    ROW("lodsw")
    ROW("cmpsl")
    ROW("scasb")
    ROW("xlat")
    ROW("btl %eax, (%rcx)")
    ROW("btsq %rax, 8(%rcx,%rdx)")
    ROW("btrw %ax, (%rcx)")
    ROW("btcl $3, (%rcx)")
    ROW("movaps %xmm0, (%rax)")
    ROW("movups (%rax), %xmm1")
    ROW("movhps %xmm0, (%rdx)")
    ROW("movlps (%rdx), %xmm0")
    ROW("movss (%rax), %xmm0")
    ROW("movsd %xmm0, (%rax)")
    ROW("pextrw $1, %xmm0, (%rax)")
    ROW("cvtsi2sdl (%rax), %xmm0")
    ROW("maskmovdqu %xmm0, %xmm1")
    ROW("movntdq %xmm0, (%rax)")
    ROW("fldt (%rax)")
    ROW("fstpt (%rax)")
    ROW("fildll (%rax)")
    ROW("fists (%rax)")
    ROW("fnstcw (%rax)")
    ROW("fldcw (%rax)")
    ROW("fxsave (%rax)")
    ROW("fnstenv (%rax)")
    ROW("stmxcsr (%rax)")
    ROW("xsave (%rcx)")
    ROW("movbe (%rax), %ecx")
    ROW("movdiri %eax, (%rcx)")
    ROW("crc32b (%rax), %ecx")
    ROW("adcx (%rax), %ecx")
    ROW("setne (%rax)")
    ROW("cmovel (%rax), %ecx")
    ROW("rolq %cl, (%rax)")
    ROW("shldl $1, %eax, (%rcx)")
    ROW("mulq (%rax)")
    ROW("negw (%rax)")
    ROW("divl (%rax)")
    ROW("vmovdqu (%rax), %ymm3")
    ROW("vmovdqa %ymm3, (%rax)")
    ROW("vbroadcastss (%rax), %ymm0")
    ROW("vbroadcastf128 (%rax), %ymm0")
    ROW("vpmovzxbw (%rax), %ymm0")
    ROW("vextracti128 $1, %ymm3, (%rax)")
    ROW("vinserti128 $1, (%rax), %ymm2, %ymm3")
    ROW("vmaskmovps (%rax), %ymm1, %ymm2")
    ROW("vmaskmovpd %xmm1, %xmm2, (%rax)")
    ROW("vpmaskmovd %ymm1, %ymm2, 32(%rax,%rcx)")
    ROW("vpmaskmovq (%rax), %xmm1, %xmm2")
    ROW("vpgatherdd %ymm1, (%rax,%ymm2,4), %ymm3")
    ROW("vpgatherdq %ymm1, (%rax,%xmm2,8), %ymm3")
    ROW("vpgatherqd %xmm1, (%rax,%ymm2,1), %xmm3")
    ROW("vpgatherqq %ymm1, 64(%rax,%ymm2,2), %ymm3")
    ROW("vgatherdpd %xmm1, (%rax,%xmm2,8), %xmm3")
    ROW("vgatherqps %xmm1, (%rax,%xmm2,1), %xmm3")
    ROW("vmovdqu32 (%rax), %zmm1")
    ROW("vmovdqu64 %zmm17, 64(%rax)")
    ROW("vmovdqu32 (%rax), %zmm1{%k1}")
    ROW("vmovdqu8 %zmm1, (%rax){%k2}")
    ROW("vmovdqu16 (%rax), %ymm20{%k3}{z}")
    ROW("vmovups %xmm1, (%rax){%k4}")
    ROW("vmovss (%rax), %xmm1{%k1}")
    ROW("vmovsd %xmm1, (%rax){%k1}")
    ROW("vaddps (%rax){1to16}, %zmm1, %zmm2")
    ROW("vaddps (%rax), %zmm1, %zmm2{%k1}")
    ROW("vaddpd (%rax){1to8}, %zmm1, %zmm2{%k1}")
    ROW("vpcompressd %zmm1, (%rax){%k1}")
    ROW("vcompresspd %zmm1, (%rax){%k1}")
    ROW("vpexpandd (%rax), %zmm1{%k1}")
    ROW("vexpandps (%rax), %ymm1{%k1}")
    ROW("vpmovdb %zmm1, (%rax){%k1}")
    ROW("vpmovqd %zmm1, (%rax)")
    ROW("vpmovsxbd (%rax), %zmm1{%k1}")
    ROW("vcvtps2pd (%rax), %zmm1{%k5}")
    ROW("vcvtdq2pd (%rax){1to8}, %zmm1")
    ROW("vpgatherdd (%rax,%zmm2,4), %zmm3{%k1}")
    ROW("vpgatherqd (%rax,%zmm2,1), %ymm3{%k2}")
    ROW("vgatherdpd (%rax,%ymm2,8), %zmm3{%k3}")
    ROW("vpgatherqq (%rax,%xmm17,8), %xmm3{%k3}")
    ROW("vpscatterdd %zmm3, (%rax,%zmm2,4){%k1}")
    ROW("vscatterqpd %ymm3, 8(%rax,%ymm2,8){%k1}")
    ROW("vpscatterqd %xmm3, (%rax,%ymm2,1){%k1}")
    ROW("vextracti32x4 $1, %zmm3, (%rax){%k1}")
    ROW("vinsertf64x4 $1, (%rax), %zmm2, %zmm3{%k1}")
    ROW("vbroadcasti32x4 (%rax), %zmm2{%k1}")
    ROW("vpbroadcastb (%rax), %zmm2{%k1}")
    ROW("vpcmpgtd (%rax), %zmm1, %k2{%k1}")
    ROW("kmovq (%rax), %k1")
    ROW("kmovw %k1, (%rax)")
    ROW("vpermd (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpermt2ps (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpermilps (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpermilps $7, (%rax), %zmm2{%k1}")
    ROW("vpermq $7, (%rax), %zmm2{%k1}")
    ROW("valignd $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpalignr $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpshufb (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpshufd $3, (%rax), %zmm2{%k1}")
    ROW("vshufps $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vshuff32x4 $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpunpckldq (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpunpcklbw (%rax), %zmm1, %zmm2{%k1}")
    ROW("vunpcklps (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpackssdw (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpackuswb (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpslld $2, (%rax), %zmm2{%k1}")
    ROW("vpsllvd (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpmaddwd (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpmaddubsw (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpmullw (%rax), %zmm1, %zmm2{%k1}")
    ROW("vdbpsadbw $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vmovddup (%rax), %zmm2{%k1}")
    ROW("vmovshdup (%rax), %zmm2{%k1}")
    ROW("vpmultishiftqb (%rax), %zmm1, %zmm2{%k1}")
    ROW("vfmadd231ps (%rax), %zmm1, %zmm2{%k1}")
    ROW("vfmadd231sd (%rax), %xmm1, %xmm2{%k1}")
    ROW("vsqrtps (%rax){1to16}, %zmm2{%k1}")
    ROW("vcvtps2ph $3, %zmm1, (%rax){%k1}")
    ROW("vcvtph2ps (%rax), %zmm1{%k1}")
    ROW("vpabsb (%rax), %ymm1{%k1}")
    ROW("vptestmd (%rax), %zmm1, %k2{%k1}")
    ROW("vfpclassps $3, (%rax){1to16}, %k2{%k1}")
    ROW("vcmpsd $1, (%rax), %xmm1, %k2{%k1}")
    ROW("vpblendmd (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpconflictd (%rax), %zmm2{%k1}")
    ROW("vbroadcastf64x2 (%rax), %zmm2{%k1}")
    ROW("vbroadcastsd (%rax), %ymm2{%k1}")
    ROW("vpsrldq $3, (%rax), %zmm2")
    ROW("vpmullq (%rax), %zmm1, %zmm2{%k1}")
    ROW("vplzcntd (%rax), %zmm2{%k1}")
    ROW("vpopcntd (%rax), %zmm2{%k1}")
    ROW("vpopcntb (%rax), %zmm2{%k1}")
    ROW("vpshldvd (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpshufbitqmb (%rax), %zmm1, %k2{%k1}")
    ROW("vrangeps $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vscalefps (%rax), %zmm1, %zmm2{%k1}")
    ROW("vfixupimmps $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpternlogd $3, (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpavgb (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpaddsb (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpmulhrsw (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpmuldq (%rax), %zmm1, %zmm2{%k1}")
    ROW("vgf2p8mulb (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpdpbusd (%rax), %zmm1, %zmm2{%k1}")
    ROW("vpmadd52luq (%rax), %zmm1, %zmm2{%k1}")
    ROW("vgetexpps (%rax), %zmm2{%k1}")
    ROW("vcvttps2qq (%rax), %zmm2{%k1}")
    ROW("vcvtpd2ps (%rax), %ymm2{%k1}")
    ROW("clzero")
    ".popsection\n");
/* clang-format on */

extern const struct row __start_instruction_rows[], __stop_instruction_rows[];

enum {
    PAGE = 4096,
    ROUNDS = 200,
    PARTS_MAX = 64
};

/* A page that can be written, one that is missing; a page that can only be read; the code, and a
 * page that is missing. */
static uint8_t *memory, *readable, *code;
static pid_t child;
static struct registers start;
static int faults, tried;
static uint64_t seed = 1;

static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void wrong(const struct row *row, const char *what, uint64_t address) {
    static const struct row *last;
    faults++;
    if (row != last)
        printf("%s: %s (%#llx)\n", row->text, what, (unsigned long long)address);
    last = row;
}

/* ---- the child ---- */

static void start_child(void) {
    int protection = PROT_READ | PROT_WRITE;
    memory = mmap(NULL, 4 * PAGE, protection, MAP_SHARED | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    code = mmap(NULL, 2 * PAGE, protection | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || code == MAP_FAILED)
        exit(2);
    readable = memory + 2 * PAGE;
    child = fork();
    if (child == 0) {
        mprotect(memory + PAGE, PAGE, PROT_NONE);
        mprotect(code + PAGE, PAGE, PROT_NONE);
        mprotect(readable, PAGE, PROT_READ);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
        !get_registers(child, &start)) {
        printf("the child does not stop\n");
        exit(1);
    }
}

enum outcome {
    RUNS,
    FAULTS,
    MISALIGNED, /* or another fault without an address */
    UNKNOWN     /* this processor does not have the instruction */
};

static enum outcome run(const struct registers *registers, uint64_t *address) {
    int status;
    siginfo_t info;
    if (!set_registers(child, registers) || ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
        waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        printf("the child has ended\n");
        exit(1);
    }
    if (WSTOPSIG(status) == SIGTRAP)
        return RUNS;
    if (WSTOPSIG(status) != SIGSEGV || ptrace(PTRACE_GETSIGINFO, child, NULL, &info))
        return UNKNOWN;
    if (info.si_code == SI_KERNEL)
        return MISALIGNED;
    *address = (uint64_t)(uintptr_t)info.si_addr;
    return FAULTS;
}

/* ---- registers ---- */

static void put_register(struct registers *registers, unsigned number, uint64_t value) {
    unsigned long long *places[] = {
        &registers->general.rax, &registers->general.rcx, &registers->general.rdx,
        &registers->general.rbx, &registers->general.rsp, &registers->general.rbp,
        &registers->general.rsi, &registers->general.rdi, &registers->general.r8,
        &registers->general.r9,  &registers->general.r10, &registers->general.r11,
        &registers->general.r12, &registers->general.r13, &registers->general.r14,
        &registers->general.r15,
    };
    *places[number] = value;
}

/* General registers have 41 random bits: nothing is mapped there. Vectors have random elements; the
 * state that describes which parts are in use says: all. */
static struct registers random_registers(void) {
    struct registers registers = start;
    for (unsigned i = 0; i < GENERAL_REGISTERS; i++)
        put_register(&registers, i, (next_random() >> 23) + ((uint64_t)1 << 40));
    uint64_t components = 0xe7, has = 0;
    for (size_t i = 160; i < registers.vector_size; i++)
        if (i < 416 || i >= 576)
            registers.vectors[i] = (uint8_t)next_random();
    memcpy(&has, registers.vectors + 464, sizeof has); /* the components of this system */
    components &= has;
    memcpy(registers.vectors + 512, &components, sizeof components);
    registers.general.rip = (uint64_t)(uintptr_t)code;
    registers.general.orig_rax = UINT64_MAX;
    registers.general.eflags = 0x202;
    return registers;
}

/* ---- parts ---- */

struct parts {
    size_t count;
    uint64_t begin[PARTS_MAX], size[PARTS_MAX];
};

static void take(void *context, uint64_t address, uint64_t size) {
    struct parts *parts = context;
    if (parts->count < PARTS_MAX) {
        parts->begin[parts->count] = address;
        parts->size[parts->count++] = size;
    }
}

static struct parts parts_of(const struct access *access, const struct registers *registers,
                             const struct decoded *decoded) {
    struct parts parts = {0};
    struct access_values values = access_values(access, registers);
    accessed_parts(access, &values, (uint64_t)(uintptr_t)code + decoded->size, take, &parts);
    return parts;
}

static bool contains(const struct parts *parts, uint64_t address) {
    for (size_t i = 0; i < parts->count; i++)
        if (address - parts->begin[i] < parts->size[i])
            return true;
    return false;
}

/* Of a mask, the processor may name any byte of the operand. */
static bool is_masked_at(const struct access *access, const struct registers *registers,
                         const struct decoded *decoded, uint64_t address) {
    struct access whole = *access;
    whole.kind = ACCESS_PLAIN;
    struct parts parts = parts_of(&whole, registers, decoded);
    return access->kind == ACCESS_MASKED && contains(&parts, address);
}

/* Moves the access to ADDRESS by a register of its address that no other one of the instruction
 * has. Returns false if there is none. */
static bool move_access(const struct access *access, uint16_t others, struct registers *registers,
                        const struct decoded *decoded, uint64_t address) {
    if (access->base == NO_REGISTER || others >> access->base & 1 ||
        access->base == access->index || access->kind == ACCESS_LINE)
        return false;
    if (access->index != NO_REGISTER)
        put_register(registers, access->index, access->kind == ACCESS_BYTE ? 0 : 8);
    if (access->kind == ACCESS_BIT)
        put_register(registers, access->bit_register, 3);
    if (access->kind == ACCESS_SCATTERED)
        memset(registers->vectors + 160, 0, 256);
    put_register(registers, access->base, 0);
    struct access first = *access;
    first.kind = access->kind == ACCESS_MASKED ? ACCESS_PLAIN : access->kind;
    if (access->kind == ACCESS_SCATTERED)
        return false;
    struct parts parts = parts_of(&first, registers, decoded);
    put_register(registers, access->base, address - parts.begin[0]);
    return true;
}

/* ---- the tests ---- */

struct accesses {
    size_t count;
    const struct access *of[LOADS_MAX + 1];
};

static uint16_t registers_of_others(const struct accesses *all, size_t index) {
    uint16_t registers = 0;
    for (size_t i = 0; i < all->count; i++)
        if (i != index && memcmp(all->of[i], all->of[index], sizeof *all->of[i]) != 0)
            registers |= all->of[i]->registers;
    return registers;
}

/* Moves all other accesses to memory that is there. */
static bool settle_others(const struct accesses *all, size_t index, struct registers *registers,
                          const struct decoded *decoded) {
    for (size_t i = 0; i < all->count; i++)
        if (i != index && memcmp(all->of[i], all->of[index], sizeof *all->of[i]) != 0 &&
            !move_access(all->of[i], all->of[index]->registers, registers, decoded,
                         (uint64_t)(uintptr_t)memory + 1024))
            return false;
    return true;
}

/* All memory is missing: a fault is at one of the parts; where there is no part, there is no
 * fault. */
static enum outcome try_missing(const struct row *row, const struct decoded *decoded,
                                const struct accesses *all) {
    struct registers registers = random_registers();
    uint64_t address = 0;
    enum outcome outcome = run(&registers, &address);
    size_t parts = 0;
    bool found = false;
    for (size_t i = 0; i < all->count; i++) {
        struct parts its = parts_of(all->of[i], &registers, decoded);
        parts += its.count;
        found |= contains(&its, address) || is_masked_at(all->of[i], &registers, decoded, address);
    }
    if (outcome == RUNS && parts)
        wrong(row, "it does not fault", 0);
    if (outcome == FAULTS && !found)
        wrong(row, "it faults elsewhere", address);
    return outcome;
}

/* Some stores fault at elements that the mask does not select, and that they do not write. */
static bool may_fault_unselected(const struct access *access, const struct decoded *decoded) {
    return access->kind == ACCESS_MASKED && access == &decoded->store;
}

/* Memory ends at a random place of the operand. */
static void try_end(const struct row *row, const struct decoded *decoded,
                    const struct accesses *all, size_t index) {
    const struct access *access = all->of[index];
    struct registers registers = random_registers();
    uint64_t end = (uint64_t)(uintptr_t)memory + PAGE, address = 0;
    uint64_t inside = next_random() % (access->size + 1u);
    if (access->kind == ACCESS_STATE || access->enters ||
        !settle_others(all, index, &registers, decoded) ||
        !move_access(access, registers_of_others(all, index), &registers, decoded, end - inside))
        return;
    struct parts parts = parts_of(access, &registers, decoded);
    bool crosses = false;
    for (size_t i = 0; i < parts.count; i++)
        crosses |= parts.begin[i] + parts.size[i] > end;
    enum outcome outcome = run(&registers, &address);
    if (outcome == RUNS && crosses)
        wrong(row, "it is smaller than described", inside);
    if (outcome == FAULTS && !crosses && !may_fault_unselected(access, decoded))
        wrong(row, "it is larger than described", inside);
    tried++;
}

/* Only a store faults where memory can only be read. */
static void try_readable(const struct row *row, const struct decoded *decoded,
                         const struct accesses *all, size_t index) {
    const struct access *access = all->of[index];
    struct registers registers = random_registers();
    uint64_t address = 0;
    if (access->kind == ACCESS_STATE || !settle_others(all, index, &registers, decoded) ||
        !move_access(access, registers_of_others(all, index), &registers, decoded,
                     (uint64_t)(uintptr_t)readable + 1024))
        return;
    bool writes = memcmp(access, &decoded->store, sizeof *access) == 0 &&
                  parts_of(access, &registers, decoded).count;
    enum outcome outcome = run(&registers, &address);
    if (outcome == RUNS && writes)
        wrong(row, "it does not write", 0);
    if (outcome == FAULTS && !writes && !may_fault_unselected(access, decoded))
        wrong(row, "it writes", address);
}

static bool try_row(const struct row *row) {
    struct decoded decoded;
    struct accesses all = {0};
    memset(code, 0xcc, 32);
    size_t size = (size_t)(row->end - row->begin);
    memcpy(code, row->begin, size);
    if (!decode_instruction(code, size, &decoded) || decoded.size != size) {
        wrong(row, "it is not decoded", 0);
        return true;
    }
    for (int i = 0; i < decoded.load_count; i++)
        all.of[all.count++] = &decoded.loads[i];
    if (writes_memory(&decoded))
        all.of[all.count++] = &decoded.store;
    if (!all.count)
        wrong(row, "it has no access", 0);
    for (int i = 0; i < ROUNDS; i++) {
        if (try_missing(row, &decoded, &all) == UNKNOWN)
            return false;
        for (size_t j = 0; j < all.count; j++) {
            try_end(row, &decoded, &all, j);
            try_readable(row, &decoded, &all, j);
        }
    }
    return true;
}

int main(void) {
    size_t count = (size_t)(__stop_instruction_rows - __start_instruction_rows), unknown = 0;
    start_child();
    for (size_t i = 0; i < count; i++)
        unknown += !try_row(&__start_instruction_rows[i]);
    kill(child, SIGKILL);
    if (unknown)
        printf("%zu instructions of %zu: this processor does not have them\n", unknown, count);
    if (!tried)
        wrong(__start_instruction_rows, "no operand was moved", 0);
    return faults != 0;
}
