/* ticks.c: steps a program and writes down, at each instruction, the ticks of its thread.
 *
 *     ticks --range START-END... --hook ADDRESS --entry ADDRESS [--watch ADDRESS] [--random]
 *           -o FILE PROGRAM ARGS
 *
 * Addresses are hexadecimal and as linked.  All threads are followed, no children; --random leaves
 * addresses random.  FILE gets a struct record for each instruction in a range that is about to
 * run in a thread that has come by the hook, quipu_moment_thread, which is given the thread's cells
 * of events.  The ticks are what the cell tells alone; moments.py adds the tables'. */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
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

enum {
    RANGES = 4096,
    THREADS = 256,
    /* of quipu_event_cells, by src/format/event.h */
    LANES = 128, /* of ticks; instructions have as many in front of them, 13 other kinds 16 */
    CELLS = (128 + 13 * 16) * 8,
    BEGIN = (2 * 128 + 30 * 16 + 32) * 8,
};

struct record {
    uint64_t pc, ticks, watched, thread;
};

static struct { uint64_t start, end; } ranges[RANGES];
static size_t range_count;
static uint64_t hook, entry, watched, bias;
static bool random_addresses;
static FILE *out;
static pid_t process;
static struct {
    pid_t tid;
    uint64_t block, number;
} threads[THREADS];
static unsigned thread_count;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "ticks: %s: %s\n", what, strerror(errno));
    exit(125);
}

static bool in_range(uint64_t pc) {
    for (size_t i = 0; i < range_count; i++)
        if (pc - ranges[i].start < ranges[i].end - ranges[i].start)
            return true;
    return false;
}

static unsigned find_thread(pid_t tid) {
    for (unsigned i = 0; i < thread_count; i++)
        if (threads[i].tid == tid)
            return i;
    if (thread_count == THREADS)
        fail("too many threads");
    threads[thread_count].tid = tid;
    return thread_count++;
}

static uint64_t read_word(uint64_t address) {
    uint64_t value = 0;
    struct iovec local = {&value, sizeof value}, remote = {(void *)address, sizeof value};
    if (process_vm_readv(process, &local, 1, &remote, 1, 0) != sizeof value)
        fail("process_vm_readv");
    return value;
}

static void write_record(unsigned thread, uint64_t pc) {
    uint64_t cells[LANES], words[2], value = 0;
    struct record record = {.pc = pc, .thread = threads[thread].number};
    uint64_t block = threads[thread].block;
    struct iovec local[] = {{cells, sizeof cells}, {words, 16}, {&value, 8}};
    struct iovec remote[] = {{(void *)(block + CELLS), sizeof cells},
                             {(void *)(block + BEGIN), 16},
                             {(void *)(watched + bias), 8}};
    unsigned long count = watched ? 3 : 2;
    if (process_vm_readv(process, local, count, remote, count, 0) !=
        (long)(sizeof cells + (watched ? 24 : 16)))
        fail("process_vm_readv");
    record.ticks = words[1] - words[0];
    for (int lane = 0; lane < LANES; lane++)
        record.ticks += cells[lane];
    record.watched = value;
    if (fwrite(&record, sizeof record, 1, out) != 1)
        fail("writing");
}

/* A thread has stopped in front of an instruction. */
static void look(unsigned thread) {
    pid_t tid = threads[thread].tid;
    errno = 0;
    uint64_t pc =
        (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.rip), NULL) - bias;
    if (errno)
        fail("PTRACE_PEEKUSER");
    if (pc == hook) {
        uint64_t block =
            (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.rdi), NULL);
        threads[thread].block = block;
        threads[thread].number = read_word(block + BEGIN + 16);
    }
    if (threads[thread].block && in_range(pc))
        write_record(thread, pc);
}

/* Where the program was loaded, minus where it was linked. */
static void find_bias(void) {
    char path[64];
    Elf64_auxv_t value;
    snprintf(path, sizeof path, "/proc/%d/auxv", process);
    FILE *file = fopen(path, "r");
    while (file && fread(&value, sizeof value, 1, file) == 1)
        if (value.a_type == AT_ENTRY)
            bias = value.a_un.a_val - entry;
    if (file)
        fclose(file);
}

/* Nothing is of interest before the first thread comes by the hook: no steps up to there. */
static void run_to_hook(void) {
    int status;
    void *place = (void *)(hook + bias);
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, process, place, NULL);
    if (errno || ptrace(PTRACE_POKETEXT, process, place, (word & ~0xffL) | 0xcc))
        fail("a breakpoint");
    do {
        if (ptrace(PTRACE_CONT, process, NULL, NULL) || waitpid(process, &status, 0) != process)
            fail("the way to the hook");
        if (!WIFSTOPPED(status))
            exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    } while (WSTOPSIG(status) != SIGTRAP);
    ptrace(PTRACE_POKETEXT, process, place, word);
    ptrace(PTRACE_POKEUSER, process, offsetof(struct user, regs.rip), place);
}

static int trace(void) {
    int status, result = 0;
    pid_t tid;
    look(find_thread(process));
    if (ptrace(PTRACE_SETOPTIONS, process, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) ||
        ptrace(PTRACE_SINGLESTEP, process, 0, 0))
        fail("PTRACE_SINGLESTEP");
    while ((tid = waitpid(-1, &status, __WALL)) > 0) {
        unsigned thread = find_thread(tid);
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (tid == process)
                result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int event = status >> 16, signal = WSTOPSIG(status);
        if (event || signal == SIGSTOP) {
            signal = 0;
        } else if (signal == SIGTRAP) {
            signal = 0;
            look(thread);
        }
        if (ptrace(PTRACE_SINGLESTEP, tid, 0, signal) && errno != ESRCH)
            fail("PTRACE_SINGLESTEP");
    }
    return result;
}

static uint64_t hexadecimal(const char *text) {
    return strtoull(text, NULL, 16);
}

static int read_options(int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--range") == 0 && range_count < RANGES) {
            char *dash;
            ranges[range_count].start = strtoull(argv[++i], &dash, 16);
            ranges[range_count++].end = hexadecimal(dash + 1);
        } else if (strcmp(argv[i], "--hook") == 0) {
            hook = hexadecimal(argv[++i]);
        } else if (strcmp(argv[i], "--entry") == 0) {
            entry = hexadecimal(argv[++i]);
        } else if (strcmp(argv[i], "--watch") == 0) {
            watched = hexadecimal(argv[++i]);
        } else if (strcmp(argv[i], "--random") == 0) {
            random_addresses = true;
        } else if (strcmp(argv[i], "-o") == 0) {
            out = fopen(argv[++i], "w");
        } else {
            errno = EINVAL;
            fail(argv[i]);
        }
    }
    if (!out || !hook || i >= argc)
        fail("no output, no hook or no program");
    return i;
}

int main(int argc, char **argv) {
    int status, i = read_options(argc, argv);
    cpu_set_t processor; /* one for both: switching there and back is all that costs time */
    CPU_ZERO(&processor);
    CPU_SET(sched_getcpu(), &processor);
    sched_setaffinity(0, sizeof processor, &processor);
    process = fork();
    if (process == 0) {
        if (!random_addresses)
            personality(ADDR_NO_RANDOMIZE);
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
            execv(argv[i], argv + i);
        fail(argv[i]);
    }
    if (waitpid(process, &status, 0) != process || !WIFSTOPPED(status))
        fail("the start");
    find_bias();
    run_to_hook();
    status = trace();
    if (fclose(out))
        fail("writing");
    return status;
}
