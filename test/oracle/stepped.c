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
 * Where it is not perfect: other threads and children run freely. */
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

static void write_stop(FILE *file, pid_t process, struct span code) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, process, 0, &r) != 0 || r.rip < code.begin || r.rip >= code.end)
        return;
    uint64_t values[18] = {r.rip, r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                           r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.fs_base};
    if (fwrite(values, sizeof values, 1, file) != 1)
        fail("the file of steps");
}

int main(int argc, char **argv) {
    int status, signal = 0;
    if (argc < 3) {
        fputs("usage: stepped FILE PROGRAM ARGS...\n", stderr);
        return 125;
    }
    FILE *file = fopen(argv[1], "wb");
    if (!file)
        fail(argv[1]);
    pid_t process = fork();
    if (process == 0)
        run_program(argv + 2);
    if (process < 0 || waitpid(process, &status, 0) < 0 || !WIFSTOPPED(status))
        fail(argv[2]);
    struct span code = find_code(process);
    run_to_entry(process);
    do {
        write_stop(file, process, code);
        if (ptrace(PTRACE_SINGLESTEP, process, 0, signal) != 0)
            break;
        waitpid(process, &status, __WALL);
        signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
    } while (WIFSTOPPED(status));
    if (fclose(file) != 0)
        fail(argv[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
