/* stepped.c: the registers of a program at each of its instructions, by single step.
 *
 *     stepped FILE PROGRAM ARGS...
 *
 * The oracle of traces.  It shares no code with the tool: ptrace stops the program's first thread
 * before every instruction, from the program's entry on.  FILE gets a record for each stop in the
 * executable's own code: 18 numbers of 64 bits, the instruction pointer, the 16 general registers
 * as instructions encode them, and the base of %fs.  A string instruction that repeats stops before
 * each of its turns.  Addresses are not random.  The exit status is the program's own, 128 + N
 * after signal N.
 *
 * FILE.vectors gets a record for each stop in front of an instruction that may have a mask or
 * scattered elements, which its first bytes tell: the number of the stop, the 32 vector registers
 * of 64 bytes each, and the 8 mask registers.
 *
 * Where it is not perfect: other threads and children run freely. */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct span {
    uint64_t begin, end;
};

static void fail(const char *what) {
    fprintf(stderr, "stepped: %s: %s\n", what, strerror(errno));
    exit(125);
}

static void run_program(char **argv) {
    personality(ADDR_NO_RANDOMIZE);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[0], argv);
    fail(argv[0]);
}

/* Returns the executable's code in the address space of PROCESS. */
static struct span find_code(pid_t process) {
    char path[64], program[4096], line[8192], protection[8];
    struct span span = {UINT64_MAX, 0};
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    ssize_t length = readlink(path, program, sizeof program - 1);
    if (length < 0)
        fail(path);
    program[length] = '\0';
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    if (!maps)
        fail(path);
    unsigned long begin, end;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, protection) == 3 && protection[2] == 'x' &&
            strstr(line, program)) {
            span.begin = begin < span.begin ? begin : span.begin;
            span.end = end > span.end ? end : span.end;
        }
    fclose(maps);
    return span;
}

static uint64_t find_entry(pid_t process) {
    char path[64];
    uint64_t pair[2], entry = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", process);
    int file = open(path, O_RDONLY);
    while (read(file, pair, sizeof pair) == sizeof pair)
        if (pair[0] == AT_ENTRY)
            entry = pair[1];
    close(file);
    return entry;
}

/* Lets the program run up to its entry: the dynamic linker takes long to step. */
static void run_to_entry(pid_t process) {
    enum {
        BREAKPOINT = 0xcc
    };
    int status;
    struct user_regs_struct registers;
    uint64_t entry = find_entry(process);
    long word = ptrace(PTRACE_PEEKTEXT, process, entry, 0);
    ptrace(PTRACE_POKETEXT, process, entry, (word & ~0xffL) | BREAKPOINT);
    ptrace(PTRACE_CONT, process, 0, 0);
    if (waitpid(process, &status, 0) < 0 || !WIFSTOPPED(status))
        fail("the program's entry");
    ptrace(PTRACE_POKETEXT, process, entry, word);
    ptrace(PTRACE_GETREGS, process, 0, &registers);
    registers.rip = entry;
    ptrace(PTRACE_SETREGS, process, 0, &registers);
}

/* ---- vectors ---- */

enum {
    STATE_MAX = 16 * 1024, /* bytes of the processor's state */
    VECTORS = 32,
    LOW_VECTORS = 16,
    VECTOR_SIZE = 64,
    MASKS = 8,
};

/* The code of the program, and the file that gets vectors. */
static uint8_t *code_bytes;
static FILE *vectors;
static uint64_t stops;

static void read_code(pid_t process, struct span code) {
    size_t size = code.end - code.begin;
    struct iovec there = {(void *)code.begin, size};
    code_bytes = calloc(1, size + 16);
    struct iovec here = {code_bytes, size};
    if (!code_bytes || process_vm_readv(process, &here, 1, &there, 1, 0) != (ssize_t)size)
        fail("the program's code");
}

/* Whether the instruction at CODE is of AVX or AVX-512, or maskmovdqu. */
static int has_vectors(const uint8_t *code) {
    if (*code == 0x62 || *code == 0xc4 || *code == 0xc5)
        return 1;
    code += *code == 0x67; /* a prefix of maskmovdqu in front of another one */
    if (*code++ != 0x66)
        return 0;
    code += (*code & 0xf0) == 0x40;
    return code[0] == 0x0f && code[1] == 0xf7;
}

/* Copies COUNT parts of SIZE bytes of COMPONENT of the processor's STATE to TO, STEP bytes apart.
 */
static void copy_parts(const uint8_t *state, size_t state_size, unsigned component, uint8_t *to,
                       unsigned count, unsigned size, unsigned step) {
    uint64_t present;
    unsigned bytes = 0, place = 160, c, d;
    memcpy(&present, state + 512, sizeof present);
    if (component > 1 && !__get_cpuid_count(13, component, &bytes, &place, &c, &d))
        return;
    if (!(present >> component & 1) || place == 0 || place + count * size > state_size)
        return;
    for (unsigned i = 0; i < count; i++)
        memcpy(to + i * step, state + place + i * size, size);
}

static void write_vectors(pid_t process) {
    static uint8_t state[STATE_MAX];
    uint8_t values[VECTORS * VECTOR_SIZE + MASKS * 8] = {0};
    uint8_t *high = values + LOW_VECTORS * VECTOR_SIZE, *masks = values + VECTORS * VECTOR_SIZE;
    struct iovec area = {state, sizeof state};
    if (ptrace(PTRACE_GETREGSET, process, NT_X86_XSTATE, &area) != 0)
        fail("the program's vectors");
    copy_parts(state, area.iov_len, 1, values, LOW_VECTORS, 16, VECTOR_SIZE);
    copy_parts(state, area.iov_len, 2, values + 16, LOW_VECTORS, 16, VECTOR_SIZE);
    copy_parts(state, area.iov_len, 6, values + 32, LOW_VECTORS, 32, VECTOR_SIZE);
    copy_parts(state, area.iov_len, 7, high, LOW_VECTORS, VECTOR_SIZE, VECTOR_SIZE);
    copy_parts(state, area.iov_len, 5, masks, MASKS, 8, 8);
    if (fwrite(&stops, sizeof stops, 1, vectors) != 1 ||
        fwrite(values, sizeof values, 1, vectors) != 1)
        fail("the file of vectors");
}

static void write_stop(FILE *file, pid_t process, struct span code) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, process, 0, &r) != 0 || r.rip < code.begin || r.rip >= code.end)
        return;
    uint64_t values[18] = {r.rip, r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                           r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.fs_base};
    if (fwrite(values, sizeof values, 1, file) != 1)
        fail("the file of steps");
    if (has_vectors(code_bytes + (r.rip - code.begin)))
        write_vectors(process);
    stops++;
}

static FILE *create(const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file)
        fail(path);
    return file;
}

int main(int argc, char **argv) {
    int status, signal = 0;
    if (argc < 3) {
        fputs("usage: stepped FILE PROGRAM ARGS...\n", stderr);
        return 125;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s.vectors", argv[1]);
    FILE *file = create(argv[1]);
    vectors = create(path);
    pid_t process = fork();
    if (process == 0)
        run_program(argv + 2);
    if (process < 0 || waitpid(process, &status, 0) < 0 || !WIFSTOPPED(status))
        fail(argv[2]);
    struct span code = find_code(process);
    run_to_entry(process);
    read_code(process, code);
    do {
        write_stop(file, process, code);
        if (ptrace(PTRACE_SINGLESTEP, process, 0, signal) != 0)
            break;
        waitpid(process, &status, __WALL);
        signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
    } while (WIFSTOPPED(status));
    if (fclose(file) != 0 || fclose(vectors) != 0)
        fail(argv[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
