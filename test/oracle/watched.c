/* watched.c: steps a program and tells of each change of some regions of its memory.
 *
 *     watched --region SYMBOL[+OFFSET]:LENGTH... [--functions FILE] [--from FUNCTION]
 *             [--limit STEPS] [--whole] -o FILE PROGRAM ARGS...
 *
 * The oracle of 'quipu watch'.  It shares no code with the tool, decodes no instruction and knows
 * no function: it compares the regions' bytes after every instruction.  SYMBOL is one of PROGRAM's
 * symbol table, NAME* the first that begins so, thread-local ones those of the first thread; a
 * number, 0x..., is an address of the process.  Steps begin at the program's entry, or where
 * FUNCTION first is called.  Threads and children are followed, one instruction of one thread at a
 * time; a child has its own copy of the regions, and loses it by exec.  FILE gets, in the order of
 * the steps,
 *
 *     change THREAD STEP REGION FIRST LAST OLD NEW CAUSE CALL FUNCTION+OFFSET [LIBRARY+OFFSET]
 *     return THREAD CALL
 *
 * THREAD and REGION count from 0, in the order of appearance; FIRST and LAST are the offsets of the
 * first and the last byte that changed, OLD and NEW all bytes from here to there, hexadecimal;
 * those between may be equal.  CAUSE is
 *
 *     store      an instruction, which stands at FUNCTION+OFFSET
 *     repeated   a turn of a string instruction; CALL numbers the turns' whole
 *     kernel     a system call
 *     signal     the frame that the kernel makes for a handler; FUNCTION is the interrupted one
 *
 * Else CALL is 0 where the instruction lies in a function of the program's symbol table, one that
 * FILE of --functions names if that is given.  Elsewhere it is the number of the innermost call
 * that led out of such functions, FUNCTION+OFFSET the place of that call, and LIBRARY+OFFSET the
 * instruction. When a call ends that changed something, or a string
 * instruction that repeated, `return` is written.
 *
 * What runs elsewhere need not be stepped: when the only thread of a process leaves the program's
 * functions, these are overwritten with breakpoints and it runs freely, up to one; all that has
 * changed meanwhile is one change of each region, whose instruction is the first one outside.  With
 * --whole everything is stepped.
 *
 * The exit status is the program's own, 128 + N after signal N; 124 after STEPS instructions.
 *
 * Where it is not perfect: a write that stores what was there is no change; a SIGTRAP that the
 * program sends itself is taken for a step; 'pushf' pushes the trap flag, too; what the kernel
 * writes when a timer ends a wait may be laid to the thread that runs then. */
#include "watched_memory.h"
#include "watched_symbols.h"

#include <errno.h>
#include <fcntl.h>
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
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 256,
    DEPTH = 64,  /* calls out of the program's functions, inside of one another */
    TURN = 2000, /* instructions of one thread, before another's */
};

/* A call that led out of the program's functions. */
struct call {
    uint64_t number;
    uint64_t sp;   /* where its return address lies; above it when it has returned */
    uint64_t from; /* the call's own address */
    bool changed;  /* something, so its return is of interest */
};

/* Memory that threads share: what the regions hold in it. */
struct image {
    uint8_t *bytes; /* of all regions; NULL: there are none since exec */
    unsigned users;
    int memory;   /* descriptor of /proc/PID/mem */
    bool covered; /* breakpoints stand in the program's functions */
};

static struct thread {
    pid_t tid, pid;
    struct image *image; /* NULL: gone */
    bool runs;           /* in the kernel, or without steps; else it is stopped */
    bool calls_kernel;   /* the next instruction is a system call */
    int signal;          /* to be given with the next step */
    uint64_t pc, sp;     /* in front of the next instruction */
    struct turns {
        uint64_t number; /* of the string instruction that repeats; else 0 */
        uint64_t pc, sp;
    } turns, interrupted[DEPTH]; /* by handlers that run */
    unsigned handlers;
    struct call calls[DEPTH];
    unsigned depth;
} threads[THREADS];
static unsigned thread_count;

static bool whole;
static uint64_t steps, limit = UINT64_MAX, call_count;
static FILE *out;
static struct {
    pid_t tid;
    int status;
} early[THREADS]; /* stops of threads whose creation has not been told yet */
static unsigned early_count;

/* ---- Memory ---- */

static void open_memory(struct thread *thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)thread->pid);
    thread->image->memory = open(path, O_RDWR | O_CLOEXEC);
    if (thread->image->memory < 0)
        fail("'%s'", path);
}

/* Writes breakpoints, or what was there, over the program's functions. */
static void cover(struct image *image, bool breakpoints) {
    if (image->covered != breakpoints)
        write_code(image->memory, breakpoints);
    image->covered = breakpoints;
}

static void add_image(struct thread *thread, const struct image *from) {
    uint8_t code[2];
    thread->image = allocate(sizeof *thread->image);
    thread->image->users = 1;
    thread->image->bytes = allocate(region_bytes);
    open_memory(thread);
    if (from && from->bytes)
        memcpy(thread->image->bytes, from->bytes, region_bytes);
    else
        read_regions(thread->pid, thread->image->bytes, 0, code);
}

static void leave_image(struct thread *thread) {
    if (thread->image && --thread->image->users == 0) {
        if (thread->image->bytes)
            close(thread->image->memory);
        free(thread->image->bytes);
        free(thread->image);
    }
    thread->image = NULL;
}

/* ---- What is told ---- */

static unsigned number_of(const struct thread *thread) {
    return (unsigned)(thread - threads);
}

/* LIBRARY+OFFSET, or the address alone. */
static void print_library(const struct thread *thread, uint64_t pc) {
    char path[64], line[4400];
    unsigned long start, end, offset;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)thread->pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *name = strrchr(line, '/');
        if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && pc >= start &&
            pc < end && name) {
            fprintf(out, " %.*s+%#llx", (int)strcspn(name + 1, "\n"), name + 1,
                    (unsigned long long)(pc - start + offset));
            fclose(file);
            return;
        }
    }
    if (file)
        fclose(file);
    fprintf(out, " %#llx", (unsigned long long)pc);
}

static void print_bytes(const uint8_t *bytes, size_t count) {
    fputc(' ', out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%02x", bytes[i]);
}

/* The instruction at PC, of CALL if that is not NULL, has made OLD to NEW. */
static void print_change(const struct thread *thread, size_t region, const uint8_t *old,
                         const uint8_t *new, const char *cause, uint64_t pc, struct call *call) {
    size_t first = 0, last = regions[region].size - 1;
    while (old[first] == new[first])
        first++;
    while (old[last] == new[last])
        last--;
    fprintf(out, "change %u %llu %zu %zu %zu", number_of(thread), (unsigned long long)steps, region,
            first, last);
    print_bytes(old + first, last - first + 1);
    print_bytes(new + first, last - first + 1);
    uint64_t place = call ? call->from : pc;
    const struct function *function = function_at(place);
    fprintf(out, " %s %llu", cause,
            (unsigned long long)(call ? call->number : thread->turns.number));
    if (function)
        fprintf(out, " %s+%#llx", function->name,
                (unsigned long long)(place - bias - function->start));
    else
        fprintf(out, " -");
    if (!function_at(pc))
        print_library(thread, pc);
    fputc('\n', out);
    if (call)
        call->changed = true;
}

/* ---- Calls out of the program's functions ---- */

static struct call *current_call(struct thread *thread) {
    return thread->depth ? &thread->calls[thread->depth - 1] : NULL;
}

static void end_calls(struct thread *thread, uint64_t sp) {
    for (; thread->depth && thread->calls[thread->depth - 1].sp <= sp; thread->depth--)
        if (current_call(thread)->changed)
            fprintf(out, "return %u %llu\n", number_of(thread),
                    (unsigned long long)current_call(thread)->number);
}

/* An instruction led from thread->pc to PC.  Stack pointers tell what it was: a call moves it down,
 * a tail call leaves it, a return moves it up.  What runs in the program's functions with the stack
 * pointer below that of a call has been called back. */
static void follow_calls(struct thread *thread, uint64_t pc, uint64_t sp) {
    bool inside = function_at(pc) != NULL;
    if (inside) {
        end_calls(thread, sp);
    } else if (function_at(thread->pc) && sp <= thread->sp) {
        end_calls(thread, sp);
        if (thread->depth == DEPTH)
            fail("too many calls inside of one another");
        thread->calls[thread->depth++] =
            (struct call){.number = ++call_count, .sp = sp, .from = thread->pc};
    }
}

static void end_turns(struct thread *thread) {
    if (thread->turns.number)
        fprintf(out, "return %u %llu\n", number_of(thread),
                (unsigned long long)thread->turns.number);
    thread->turns.number = 0;
}

/* A string instruction may have ended, been left for a handler, or been taken up again. */
static void follow_turns(struct thread *thread, const struct user_regs_struct *regs, bool handled) {
    if (handled) {
        if (thread->turns.number && thread->handlers < DEPTH)
            thread->interrupted[thread->handlers++] = thread->turns;
        thread->turns.number = 0;
        return;
    }
    if (regs->rip != thread->pc)
        end_turns(thread);
    for (unsigned i = thread->handlers; i-- && !thread->turns.number;)
        if (thread->interrupted[i].pc == regs->rip && thread->interrupted[i].sp == regs->rsp) {
            thread->turns = thread->interrupted[i];
            thread->handlers = i;
        }
}

/* ---- Steps ---- */

/* Whether the process has a handler for SIGNAL. */
static bool is_caught(pid_t pid, int signal) {
    char path[64], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "SigCgt: %llx", &mask) == 1)
            break;
    if (file)
        fclose(file);
    return signal && (mask >> (signal - 1) & 1);
}

/* The thread has stopped behind an instruction, or behind the begin of a handler. */
static void look(struct thread *thread, bool handled) {
    static uint8_t bytes[BYTES];
    uint8_t code[2];
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, thread->tid, 0, &regs)) {
        if (errno == ESRCH)
            return;
        fail("PTRACE_GETREGS");
    }
    memcpy(bytes, thread->image->bytes, region_bytes);
    read_regions(thread->pid, bytes, regs.rip, code);
    if (!handled && regs.rip == thread->pc && !thread->turns.number && function_at(regs.rip))
        thread->turns = (struct turns){++call_count, regs.rip, regs.rsp};
    if (memcmp(bytes, thread->image->bytes, region_bytes) != 0) {
        struct call *call = function_at(thread->pc) ? NULL : current_call(thread);
        const char *cause = handled                ? "signal"
                            : thread->calls_kernel ? "kernel"
                            : thread->turns.number ? "repeated"
                                                   : "store";
        size_t at = 0;
        for (size_t i = 0; i < region_count; at += regions[i++].size)
            if (memcmp(bytes + at, thread->image->bytes + at, regions[i].size) != 0)
                print_change(thread, i, thread->image->bytes + at, bytes + at, cause, thread->pc,
                             call);
        memcpy(thread->image->bytes, bytes, region_bytes);
    }
    follow_turns(thread, &regs, handled);
    if (!handled)
        follow_calls(thread, regs.rip, regs.rsp);
    thread->pc = regs.rip;
    thread->sp = regs.rsp;
    thread->calls_kernel = code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34);
}

static struct thread *find_thread(pid_t tid) {
    for (unsigned i = 0; i < thread_count; i++)
        if (threads[i].tid == tid && threads[i].image)
            return &threads[i];
    return NULL;
}

static struct thread *add_thread(pid_t tid, pid_t pid) {
    if (thread_count == THREADS)
        fail("too many threads");
    threads[thread_count] = (struct thread){.tid = tid, .pid = pid};
    return &threads[thread_count++];
}

static bool is_of_process(pid_t tid, pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

/* The thread's instruction pointer is one that no step led to. */
static void begin_at(struct thread *thread) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, thread->tid, 0, &regs))
        return;
    thread->pc = regs.rip;
    thread->sp = regs.rsp;
    thread->calls_kernel = false; /* a child begins behind the one that made it */
    thread->runs = false;
}

/* PARENT has made CHILD, which stops by itself. */
static void begin_child(struct thread *parent, pid_t child, int event) {
    int status;
    bool shares = event == PTRACE_EVENT_VFORK, known = false;
    for (unsigned i = 0; i < early_count && !known; i++)
        if (early[i].tid == child) {
            known = true;
            early[i] = early[--early_count];
        }
    if (!known && waitpid(child, &status, __WALL) != child)
        fail("a child");
    bool sibling = is_of_process(child, parent->pid);
    struct thread *thread = add_thread(child, sibling ? parent->pid : child);
    if (shares || sibling) {
        thread->image = parent->image;
        thread->image->users++;
    } else {
        add_image(thread, parent->image);
        thread->image->covered = parent->image->covered;
        cover(thread->image, false);
    }
    cover(parent->image, false);
    memcpy(thread->calls, parent->calls, sizeof thread->calls);
    thread->depth = sibling ? 0 : parent->depth;
    for (unsigned i = 0; i < thread->depth; i++)
        thread->calls[i].changed = false;
    begin_at(thread);
}

/* The process runs another program, of which nothing is watched. */
static void leave_program(pid_t tid, pid_t former) {
    struct thread *thread = find_thread(former);
    if (!thread)
        fail("exec of an unknown thread");
    thread->tid = tid;
    thread->depth = 0;
    leave_image(thread);
    thread->image = allocate(sizeof *thread->image);
    thread->image->users = 1;
    thread->runs = true;
    if (ptrace(PTRACE_CONT, tid, 0, 0) && errno != ESRCH)
        fail("PTRACE_CONT");
}

/* Lets it run one instruction, or freely where nothing is watched or breakpoints are met. */
static void step(struct thread *thread) {
    struct image *image = thread->image;
    bool free = !image->bytes || image->covered;
    thread->runs = true;
    if (ptrace(free ? PTRACE_CONT : PTRACE_SINGLESTEP, thread->tid, 0, thread->signal) &&
        errno != ESRCH)
        fail("PTRACE_SINGLESTEP");
}

/* A thread that ran freely has met the breakpoint at its next instruction. */
static void come_back(struct thread *thread) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, thread->tid, 0, &regs) || !function_at(regs.rip - 1))
        return;
    cover(thread->image, false);
    regs.rip--;
    if (ptrace(PTRACE_SETREGS, thread->tid, 0, &regs))
        fail("PTRACE_SETREGS");
}

static void stop(struct thread *thread, int status) {
    int event = status >> 16, signal = WSTOPSIG(status);
    unsigned long message = 0;
    if (event && event != PTRACE_EVENT_STOP)
        ptrace(PTRACE_GETEVENTMSG, thread->tid, 0, &message);
    if (event == PTRACE_EVENT_EXEC) {
        leave_program(thread->tid, (pid_t)message);
    } else if (event == PTRACE_EVENT_STOP) {
        if (signal == SIGTRAP)
            thread->runs = false;
        else
            ptrace(PTRACE_LISTEN, thread->tid, 0, 0);
    } else if (event) {
        begin_child(thread, (pid_t)message, event);
        thread->signal = 0;
        step(thread); /* it is in the system call still */
    } else {
        bool handled = signal == SIGTRAP && thread->signal && !thread->image->covered &&
                       is_caught(thread->pid, thread->signal);
        thread->runs = false;
        if (thread->image->covered && signal == SIGTRAP)
            come_back(thread);
        thread->signal = signal == SIGTRAP ? 0 : signal;
        if (thread->image->bytes && !thread->image->covered && signal == SIGTRAP)
            look(thread, handled);
    }
}

static pid_t root;
static int result;

/* A child of ours has told something. */
static void handle(pid_t tid, int status) {
    struct thread *thread = find_thread(tid);
    if (WIFSTOPPED(status)) {
        if (!thread && status >> 16 == PTRACE_EVENT_EXEC) {
            thread = add_thread(tid, tid); /* the first one had ended */
            unsigned long former = 0;
            ptrace(PTRACE_GETEVENTMSG, tid, 0, &former);
        }
        if (thread)
            stop(thread, status);
        else if (early_count < THREADS)
            early[early_count++].tid = tid;
        return;
    }
    if (thread) {
        end_calls(thread, UINT64_MAX);
        leave_image(thread);
    }
    if (tid == root)
        result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether the thread sleeps in the kernel, or has ended while others of its process have not. */
static bool sleeps(const struct thread *thread) {
    char path[64], text[512], *state;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)thread->tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    state = strrchr(text, ')');
    return !state || strchr("SDZXT", state[2]) != NULL;
}

/* Waits until the thread has stopped, ended, or sleeps. */
static void settle(struct thread *thread) {
    int status;
    while (thread->image && thread->runs) {
        bool asleep = sleeps(thread);
        pid_t tid = waitpid(thread->tid, &status, __WALL | WNOHANG);
        if (tid == thread->tid)
            handle(tid, status);
        else if (tid < 0 || asleep)
            return;
        else
            sched_yield();
    }
}

static void settle_all(void) {
    for (unsigned i = 0; i < thread_count; i++)
        if (threads[i].image && threads[i].runs)
            settle(&threads[i]);
}

/* Whether no other thread lives. */
static bool is_alone(void) {
    unsigned alive = 0;
    for (unsigned i = 0; i < thread_count; i++)
        alive += threads[i].image != NULL;
    return alive == 1;
}

/* Runs one instruction of the thread.  None but a system call can wait, or wake another thread. */
static void run(struct thread *thread) {
    int status;
    struct image *image = thread->image;
    steps += image->bytes != NULL;
    if (image->bytes && !whole && image->users == 1 && !thread->calls_kernel &&
        !function_at(thread->pc))
        cover(image, true);
    bool waits = thread->calls_kernel || !image->bytes || image->covered;
    step(thread);
    if (!waits || is_alone()) {
        if (waitpid(thread->tid, &status, __WALL) == thread->tid)
            handle(thread->tid, status);
        return;
    }
    settle(thread);
    settle_all();
}

/* The next thread that is stopped: the same one for TURN instructions.  NULL: none is. */
static struct thread *choose(void) {
    static unsigned last, turn;
    if (thread_count && ++turn < TURN && threads[last].image && !threads[last].runs)
        return &threads[last];
    turn = 0;
    settle_all();
    for (unsigned i = 1; i <= thread_count; i++) {
        unsigned next = (last + i) % thread_count;
        if (threads[next].image && !threads[next].runs) {
            last = next;
            return &threads[next];
        }
    }
    return NULL;
}

static void trace(void) {
    int status;
    while (steps < limit) {
        struct thread *thread = choose();
        if (thread) {
            run(thread);
            continue;
        }
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno == ECHILD)
            return;
        if (tid < 0)
            fail("waitpid");
        handle(tid, status);
    }
    result = 124; /* all that is traced ends with us */
}

/* ---- The start ---- */

/* Up to where steps begin: the dynamic linker's work is not of interest. */
static void run_to(pid_t pid, const char *from) {
    int status;
    uint64_t address = program_entry();
    if (from) {
        const Elf64_Sym *symbol = find_symbol(from, strlen(from));
        if (!symbol)
            fail("'%s': no such function", from);
        address = symbol->st_value;
    }
    void *place = (void *)(address + bias);
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, pid, place, NULL);
    if (errno || ptrace(PTRACE_POKETEXT, pid, place, (word & ~0xffL) | 0xcc))
        fail("a breakpoint");
    do {
        if (ptrace(PTRACE_CONT, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
            fail("the way to the first step");
        if (!WIFSTOPPED(status))
            exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    } while (WSTOPSIG(status) != SIGTRAP);
    ptrace(PTRACE_POKETEXT, pid, place, word);
    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rip), place);
}

/* Starts the program, stopped at its first instruction. */
static void start(char **command) {
    int gate[2], status;
    cpu_set_t processor; /* one for both: switching there and back is all that costs time */
    CPU_ZERO(&processor);
    CPU_SET((size_t)sched_getcpu(), &processor);
    sched_setaffinity(0, sizeof processor, &processor);
    if (pipe2(gate, O_CLOEXEC))
        fail("pipe");
    root = fork();
    if (root == 0) {
        char go;
        personality(ADDR_NO_RANDOMIZE);
        setenv("LD_BIND_NOW", "1", 1); /* else the linker would run at a function's first call */
        if (read(gate[0], &go, 1) == 1)
            execv(command[0], command);
        fail("'%s'", command[0]);
    }
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, root, NULL, options) || write(gate[1], "", 1) != 1)
        fail("PTRACE_SEIZE");
    close(gate[0]);
    close(gate[1]);
    if (waitpid(root, &status, __WALL) != root || status >> 16 != PTRACE_EVENT_EXEC)
        fail("the start");
}

static const char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = allocate(BYTES);
    if (!file || fread(text, 1, BYTES - 1, file) == 0)
        fail("'%s'", path);
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    const char *from = NULL, *listed = NULL;
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--region") == 0 && region_count < REGIONS)
            regions[region_count++].text = argv[++i];
        else if (strcmp(argv[i], "--functions") == 0)
            listed = read_text(argv[++i]);
        else if (strcmp(argv[i], "--from") == 0)
            from = argv[++i];
        else if (strcmp(argv[i], "--whole") == 0)
            whole = true;
        else if (strcmp(argv[i], "--limit") == 0)
            limit = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-o") == 0)
            out = fopen(argv[++i], "we");
        else
            break;
    }
    errno = EINVAL;
    if (!out || !region_count || i >= argc || argv[i][0] == '-')
        fail("no output, no region, no program, or '%s'", i < argc ? argv[i] : "");
    open_program(argv[i]);
    find_functions(listed);
    start(argv + i);
    find_bias(root);
    run_to(root, from);
    find_regions(root);
    struct thread *thread = add_thread(root, root);
    begin_at(thread);
    add_image(thread, NULL);
    read_code(thread->image->memory);
    trace();
    if (fclose(out))
        fail("writing");
    return result;
}
