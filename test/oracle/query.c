/* query.c: steps a program and asks it, now and then, how many events it has had.
 *
 *     query --range START-END... [--every N --seed S --ask NOTE AT --kind K...]
 *           [--signal START-END] [--skip FUNCTION]... [--no-signals] -o FILE PROGRAM ARGS
 *
 * Addresses are hexadecimal and those of the process, so PROGRAM must not be position independent.
 * All threads are followed, no children.  FILE gets, in the order of the stops,
 *
 *     s THREAD PC                  an instruction that lies in a range has been executed
 *     q THREAD PC COUNT...         what the program says in front of PC, for each KIND
 *     i THREAD PC                  a signal comes in front of PC
 *
 * THREAD counts from 0 in the order of creation.  At one of N stops on average the thread is made
 * to call NOTE(context), as if the kernel had called a signal handler, and AT(kind, context); or
 * with --signal, once it has been between START and END, is sent SIGUSR1.  With --no-signals
 * none comes.
 *
 * Steps are slow, so outside of the ranges a lone thread runs at full speed, but for some windows
 * of steps: then the ranges hold nothing but breakpoints, and whatever way leads into them is seen.
 * Where there are more threads all are stepped, but for the FUNCTIONs, which must return.
 *
 * Invariant: where a call returns to address 0, all registers and the memory above the red zone
 * are as they were. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    RANGES = 4096,
    RANGE_BYTES = 1 << 20,
    KINDS = 32,
    THREADS = 256,
    SKIPS = 16,
    ASKABLE = 12, /* by then a thread has its cells; no signal comes while it is given them */
    WINDOWS = 8,  /* at one of so many ways out of the ranges it is stepped on, */
    WINDOW = 150, /* for so many instructions at most */
    BREAKPOINT = 0xcc,
};

static struct {
    uint64_t start, end;
    uint8_t *bytes; /* of the program, kept while breakpoints stand there */
} ranges[RANGES];
static size_t range_count;
static unsigned kinds[KINDS];
static size_t kind_count;
static uint64_t skips[SKIPS];
static size_t skip_count;
static uint64_t note_address, at_address;
static unsigned every;
static uint64_t signal_start, signal_end;
static bool no_signals;
static uint64_t seed = 1;
static FILE *out;
static int memory = -1; /* of the program, writable where it is not for itself */
static bool closed;     /* breakpoints stand in the ranges */
static struct thread {
    pid_t tid;
    bool gone;
    unsigned inside;               /* instructions in ranges, up to ASKABLE */
    bool signals;                  /* it waits for them */
    unsigned window;               /* steps that are left outside of the ranges */
    uint64_t pending;              /* this instruction has been begun, if not 0, */
    struct user_regs_struct begun; /* with these registers */
    int held;                      /* a signal that came where it could not be told */
    uint64_t skipped;              /* the function that runs returns there, if not 0 */
} threads[THREADS];
static unsigned thread_count;

static _Noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("query: ", stderr);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", strerror(errno));
    va_end(arguments);
    exit(125);
}

static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static bool in_range(uint64_t pc) {
    for (size_t i = 0; i < range_count; i++)
        if (pc >= ranges[i].start && pc < ranges[i].end)
            return true;
    return false;
}

static struct thread *find_thread(pid_t tid) {
    for (unsigned i = 0; i < thread_count; i++)
        if (threads[i].tid == tid)
            return &threads[i];
    if (thread_count == THREADS)
        fail("too many threads");
    threads[thread_count].tid = tid;
    return &threads[thread_count++];
}

static unsigned number_of(const struct thread *thread) {
    return (unsigned)(thread - threads);
}

static bool is_alone(void) {
    unsigned alive = 0;
    for (unsigned i = 0; i < thread_count; i++)
        alive += !threads[i].gone;
    return alive == 1;
}

static struct user_regs_struct get_registers(const struct thread *thread) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, thread->tid, 0, &regs))
        fail("PTRACE_GETREGS");
    return regs;
}

static void set_registers(const struct thread *thread, const struct user_regs_struct *regs) {
    if (ptrace(PTRACE_SETREGS, thread->tid, 0, regs))
        fail("PTRACE_SETREGS");
}

static void write_memory(uint64_t address, const void *bytes, size_t size) {
    if (pwrite(memory, bytes, size, (off_t)address) != (ssize_t)size)
        fail("writing the program's memory at %#llx", (unsigned long long)address);
}

static void read_memory(uint64_t address, void *bytes, size_t size) {
    if (pread(memory, bytes, size, (off_t)address) != (ssize_t)size)
        fail("reading the program's memory at %#llx", (unsigned long long)address);
}

/* The program is there: keeps its code. */
static void begin(const struct thread *thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)thread->tid);
    memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        fail("'%s'", path);
    for (size_t i = 0; i < range_count; i++) {
        size_t size = ranges[i].end - ranges[i].start;
        ranges[i].bytes = size < RANGE_BYTES ? malloc(size) : NULL;
        if (!ranges[i].bytes)
            fail("a range of %zu bytes", size);
        read_memory(ranges[i].start, ranges[i].bytes, size);
    }
}

static void close_ranges(void) {
    static uint8_t breakpoints[RANGE_BYTES];
    memset(breakpoints, BREAKPOINT, sizeof breakpoints);
    for (size_t i = 0; !closed && i < range_count; i++)
        write_memory(ranges[i].start, breakpoints, ranges[i].end - ranges[i].start);
    closed = true;
}

static void open_ranges(void) {
    for (size_t i = 0; closed && i < range_count; i++)
        write_memory(ranges[i].start, ranges[i].bytes, ranges[i].end - ranges[i].start);
    closed = false;
}

/* Lets the thread run until it comes to address 0.  Signals are kept for later. */
static uint64_t run_to_nowhere(struct thread *thread) {
    int status, number;
    for (;;) {
        if (ptrace(PTRACE_CONT, thread->tid, 0, 0) ||
            waitpid(thread->tid, &status, __WALL) != thread->tid)
            fail("a call in the program");
        number = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
        if (!number || number == SIGSEGV)
            break;
        if (number != SIGTRAP) /* a step that was still under way behind a system call */
            thread->held = number;
    }
    struct user_regs_struct regs = {0};
    if (number)
        regs = get_registers(thread);
    if (!number || regs.rip != 0) {
        errno = 0;
        fail("a call in the program ended with status %#x at %#llx", status, regs.rip);
    }
    return regs.rax;
}

/* Makes the thread call FUNCTION; all other threads may go on meanwhile. */
static uint64_t call(struct thread *thread, struct user_regs_struct regs, uint64_t function,
                     uint64_t first, uint64_t second) {
    static const uint64_t nowhere;
    regs.rsp = ((regs.rsp - 8192) & ~15ull) - 8;
    write_memory(regs.rsp, &nowhere, sizeof nowhere);
    regs.rip = function;
    regs.rdi = first;
    regs.rsi = second;
    regs.eflags &= ~0x500ull; /* direction, trap */
    regs.orig_rax = UINT64_MAX;
    set_registers(thread, &regs);
    return run_to_nowhere(thread);
}

static void ask(struct thread *thread, const struct user_regs_struct *regs) {
    static ucontext_t context;
    uint64_t address = (regs->rsp - 4096) & ~15ull;
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)regs->rip;
    context.uc_mcontext.gregs[REG_RCX] = (greg_t)regs->rcx;
    write_memory(address, &context, sizeof context);
    call(thread, *regs, note_address, address, 0);
    fprintf(out, "q %u %llx %llx", number_of(thread), regs->rip, regs->rcx);
    for (size_t i = 0; i < kind_count; i++)
        fprintf(out, " %llu",
                (unsigned long long)call(thread, *regs, at_address, kinds[i], address));
    fputc('\n', out);
    set_registers(thread, regs);
}

static void write_pending(struct thread *thread) {
    if (thread->pending)
        fprintf(out, "s %u %llx %llx\n", number_of(thread), (unsigned long long)thread->pending,
                thread->begun.rcx);
    thread->pending = 0;
}

/* A thread has stopped in front of an instruction, and is to get signal NUMBER, or 0.  Returns
 * the signal that it gets. */
static int look(struct thread *thread, struct user_regs_struct *regs, int number) {
    bool inside = in_range(regs->rip);
    thread->inside += inside && thread->inside < ASKABLE;
    thread->signals |= regs->rip >= signal_start && regs->rip < signal_end;
    bool chosen = every && thread->inside == ASKABLE && next_random() % every == 0;
    if (chosen && !signal_end)
        ask(thread, regs);
    if (!number && chosen && thread->signals && inside)
        number = SIGUSR1;
    if (!number) {
        number = thread->held;
        thread->held = 0;
    }
    if (number)
        fprintf(out, "i %u %llx %llx\n", number_of(thread), regs->rip, regs->rcx);
    else if (inside) {
        thread->pending = regs->rip;
        thread->begun = *regs;
    }
    if (inside)
        thread->window = next_random() % WINDOWS == 0 ? WINDOW : 0;
    else if (thread->window)
        thread->window--;
    return number;
}

/* Whether the thread stands at the begin of a function that is not stepped.  If so, that has been
 * called to return to address 0. */
static bool skip(struct thread *thread, const struct user_regs_struct *regs) {
    static const uint64_t nowhere;
    for (size_t i = 0; i < skip_count; i++) {
        if (regs->rip != skips[i])
            continue;
        read_memory(regs->rsp, &thread->skipped, sizeof thread->skipped);
        write_memory(regs->rsp, &nowhere, sizeof nowhere);
        return true;
    }
    return false;
}

/* Lets it run, or step. */
static void resume(struct thread *thread, const struct user_regs_struct *regs, int number) {
    bool alone = is_alone(), leaves = alone && !in_range(regs->rip) && !thread->window;
    if (leaves)
        close_ranges();
    bool skips_it = !number && !leaves && skip(thread, regs);
    if (ptrace(leaves || skips_it ? PTRACE_CONT : PTRACE_SINGLESTEP, thread->tid, 0, number) &&
        errno != ESRCH)
        fail("resuming");
}

/* A signal came first, or a stop of a handler's return was told twice.  What goes on at its own
 * address changes a register: a turn of a string instruction, 'loop' to itself. */
static bool is_unchanged(const struct thread *thread, const struct user_regs_struct *regs) {
    const struct user_regs_struct *begun = &thread->begun;
    return regs->rcx == begun->rcx && regs->rsi == begun->rsi && regs->rdi == begun->rdi &&
           regs->rsp == begun->rsp;
}

/* A breakpoint, no step. */
static bool is_breakpoint(const struct thread *thread, const struct user_regs_struct *regs) {
    siginfo_t information = {0};
    return closed && in_range(regs->rip - 1) &&
           !ptrace(PTRACE_GETSIGINFO, thread->tid, 0, &information) &&
           information.si_code == SI_KERNEL;
}

/* The thread has stopped with signal NUMBER. */
static void stop(struct thread *thread, int number) {
    struct user_regs_struct regs = get_registers(thread);
    if (number == SIGSEGV && thread->skipped && regs.rip == 0) {
        regs.rip = thread->skipped;
        thread->skipped = 0;
        set_registers(thread, &regs);
        number = SIGTRAP;
    } else if (thread->skipped && number != SIGTRAP) { /* its handler would not be seen */
        thread->held = number;
        number = 0;
    }
    if (thread->skipped) {
        if (ptrace(PTRACE_CONT, thread->tid, 0, number == SIGTRAP ? 0 : number))
            fail("PTRACE_CONT");
        return;
    }
    if (number == SIGTRAP && is_breakpoint(thread, &regs)) {
        regs.rip--;
        set_registers(thread, &regs);
        open_ranges();
    }
    if (regs.rip == thread->pending && is_unchanged(thread, &regs))
        thread->pending = 0; /* it will be begun again, behind a handler or at once */
    if (no_signals && number == SIGALRM)
        number = SIGTRAP; /* as if a step had ended */
    write_pending(thread);
    resume(thread, &regs, look(thread, &regs, number == SIGTRAP ? 0 : number));
}

static int trace(void) {
    int status, result = 0;
    pid_t tid;
    while ((tid = waitpid(-1, &status, __WALL)) > 0) {
        struct thread *thread = find_thread(tid);
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            write_pending(thread);
            thread->gone = true;
            if (thread == threads)
                result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        if (memory < 0) {
            if (ptrace(PTRACE_SETOPTIONS, tid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL))
                fail("PTRACE_SETOPTIONS");
            begin(thread);
        }
        unsigned long created;
        if (status >> 16 == PTRACE_EVENT_CLONE && !ptrace(PTRACE_GETEVENTMSG, tid, 0, &created))
            find_thread((pid_t)created);
        if (!is_alone())
            open_ranges();
        if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP)
            stop(thread, WSTOPSIG(status));
        else if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) && errno != ESRCH)
            fail("PTRACE_SINGLESTEP");
    }
    return result;
}

static uint64_t hexadecimal(const char *text) {
    return strtoull(text, NULL, 16);
}

int main(int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--range") == 0 && range_count < RANGES) {
            char *dash;
            ranges[range_count].start = strtoull(argv[++i], &dash, 16);
            ranges[range_count++].end = hexadecimal(dash + 1);
        } else if (strcmp(argv[i], "--signal") == 0) {
            char *dash;
            signal_start = strtoull(argv[++i], &dash, 16);
            signal_end = hexadecimal(dash + 1);
        } else if (strcmp(argv[i], "--every") == 0) {
            every = (unsigned)atoi(argv[++i]);
        } else if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[++i], NULL, 10) * 2 + 1;
        } else if (strcmp(argv[i], "--ask") == 0) {
            note_address = hexadecimal(argv[++i]);
            at_address = hexadecimal(argv[++i]);
        } else if (strcmp(argv[i], "--kind") == 0 && kind_count < KINDS) {
            kinds[kind_count++] = (unsigned)atoi(argv[++i]);
        } else if (strcmp(argv[i], "--skip") == 0 && skip_count < SKIPS) {
            skips[skip_count++] = hexadecimal(argv[++i]);
        } else if (strcmp(argv[i], "--no-signals") == 0) {
            no_signals = true;
        } else if (strcmp(argv[i], "-o") == 0) {
            out = fopen(argv[++i], "w");
        } else {
            errno = EINVAL;
            fail("'%s'", argv[i]);
        }
    }
    if (!out || i >= argc)
        fail("no output or no program");
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            fail("PTRACE_TRACEME");
        execv(argv[i], argv + i);
        fail("'%s'", argv[i]);
    }
    int status = trace();
    if (fclose(out))
        fail("writing");
    return status;
}
