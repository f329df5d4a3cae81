/* arrived.c: says where 'quipu goto' has stopped a thread; run by its --exec.
 *
 *     arrived ENTRY [WATCH]
 *
 * Prints the thread's instruction pointer and the word at WATCH, hexadecimal.  Both addresses are
 * hexadecimal and as linked, ENTRY the program's; so is what is printed first.  The process is in
 * QUIPU_PID, the thread in QUIPU_THREAD. */
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void fail(const char *what) {
    perror(what);
    exit(125);
}

static int open_of(const char *pid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        fail(path);
    return fd;
}

int main(int argc, char **argv) {
    const char *pid = getenv("QUIPU_PID"), *tid = getenv("QUIPU_THREAD");
    if (argc < 2 || !pid || !tid)
        return 125;
    uint64_t bias = 0, value = 0;
    Elf64_auxv_t entry;
    int status, fd = open_of(pid, "auxv");
    while (read(fd, &entry, sizeof entry) == sizeof entry)
        if (entry.a_type == AT_ENTRY)
            bias = entry.a_un.a_val - strtoull(argv[1], NULL, 16);
    close(fd);
    fd = open_of(pid, "mem");
    if (argc > 2 && pread(fd, &value, 8, (off_t)(strtoull(argv[2], NULL, 16) + bias)) != 8)
        fail("reading the word");
    close(fd);
    pid_t thread = atoi(tid);
    if (ptrace(PTRACE_SEIZE, thread, 0, 0) || ptrace(PTRACE_INTERRUPT, thread, 0, 0) ||
        waitpid(thread, &status, __WALL) != thread)
        fail("ptrace");
    uint64_t pc = (uint64_t)ptrace(PTRACE_PEEKUSER, thread, offsetof(struct user, regs.rip), 0);
    printf("%llx %llx\n", (unsigned long long)(pc - bias), (unsigned long long)value);
    return 0;
}
