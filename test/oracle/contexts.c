/* contexts.c: the calling context trees of a program, by single step.
 *
 *     contexts --object PATH START-END... -o FILE PROGRAM ARGS...
 *
 * The oracle of --quipu=calls; it shares no code with the tool.  Each START-END, hexadecimal and as
 * linked, is a piece of a function of the object named before it; START=END=ENTRY names a piece of
 * the function that begins at ENTRY.  All threads and forked children are followed.  Where a
 * process has one thread, and that is elsewhere, the pieces are overwritten with breakpoints and it
 * runs freely; otherwise every instruction is stepped.
 *
 * A function is entered where its first instruction is met: from what stands on the stack, a return
 * address.  It ends when the stack pointer is above that (return, longjmp, exception) and it is
 * left, when another function is entered with the same stack pointer, or when it jumps away with
 * it.  A jump from inside a function to its first instruction is an iteration of a loop, not a
 * call. An instruction that is executed in one of the pieces adds one to all that is entered, once
 * for each node.
 *
 * FILE gets for each process, in the order of their beginnings,
 *
 *     process PID
 *     object PATH BIAS
 *     node NUMBER PARENT SITE CALLEE CALLS INSTRUCTIONS    addresses of the run
 *
 * Not perfect: signals are followed as far as handlers run on the thread's stack or on one
 * that lies below it; programs must not be traced or step themselves. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PIECES = 4096,
    OBJECTS = 8,
    RED_ZONE = 128,
};

struct object {
    const char *path;
    uint64_t linked; /* address of the first segment */
};

struct piece {
    int object;
    uint64_t start, end, entry; /* as linked */
    uint8_t *kinds;             /* of the instruction at each byte */
    uint8_t *bytes;             /* of the code; NULL: not read yet */
};

enum instruction_kind {
    UNKNOWN,
    PLAIN,
    JUMP,
    RETURN,
    REPEATED,
};

struct node {
    uint64_t site, callee, calls, inclusive, begin;
    uint32_t parent, depth;
};

struct activation {
    uint64_t stack;
    uint32_t node;
    const struct piece *piece;
};

struct process {
    struct process *next;
    pid_t pid;
    bool known[OBJECTS];
    uint64_t bias[OBJECTS];
    unsigned threads;   /* that live */
    bool covered;       /* breakpoints stand all over the pieces */
    struct node *nodes; /* of all threads; a root has parent 0 and no callee; from 1 on */
    uint32_t node_count, node_room;
};

struct thread {
    pid_t tid;
    struct process *process; /* NULL: its parent has not told of it yet */
    uint64_t now;            /* instructions */
    uint64_t pc, stack;      /* before the step */
    const struct piece *piece;
    bool injected;
    bool stopped;
    struct activation *stack_of; /* activations; the first is the root */
    uint32_t depth, room;
};

static struct object objects[OBJECTS];
static int object_count;
static struct piece pieces[PIECES];
static size_t piece_count;
static struct process *processes, **processes_end = &processes;
static struct thread *threads[1024];
static size_t thread_count;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "contexts: %s: %s\n", what, strerror(errno));
    exit(125);
}

static void *grow(void *memory, size_t count, size_t size) {
    memory = realloc(memory, count * size);
    if (!memory)
        fail("realloc");
    return memory;
}

/* ---- what lies where ---- */

static uint64_t first_address(const char *path) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    FILE *file = fopen(path, "rb");
    if (!file || fread(&header, sizeof header, 1, file) != 1)
        fail(path);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (fseek(file, (long)(header.e_phoff + i * sizeof segment), SEEK_SET) ||
            fread(&segment, sizeof segment, 1, file) != 1)
            fail(path);
        if (segment.p_type == PT_LOAD)
            break;
    }
    fclose(file);
    return segment.p_vaddr & ~(uint64_t)4095;
}

/* The first mapping of an object is that of its first segment. */
static void find_objects(struct process *process) {
    char name[64], line[4096], path[4096];
    unsigned long start;
    snprintf(name, sizeof name, "/proc/%d/maps", process->pid);
    FILE *file = fopen(name, "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        for (int i = 0; i < object_count; i++)
            if (!process->known[i] &&
                sscanf(line, "%lx-%*x %*s %*s %*s %*s %4095[^\n]", &start, path) == 2 &&
                strcmp(path, objects[i].path) == 0) {
                process->known[i] = true;
                process->bias[i] = start - objects[i].linked;
            }
    fclose(file);
}

static struct piece *piece_at(const struct process *process, uint64_t address) {
    for (size_t i = 0; i < piece_count; i++)
        if (process->known[pieces[i].object] &&
            address - process->bias[pieces[i].object] - pieces[i].start <
                pieces[i].end - pieces[i].start)
            return &pieces[i];
    return NULL;
}

static uint64_t entry_of(const struct process *process, const struct piece *piece) {
    return piece->entry + process->bias[piece->object];
}

static uint64_t read_word(pid_t tid, uint64_t address) {
    uint64_t word = 0;
    struct iovec here = {&word, sizeof word}, there = {(void *)address, sizeof word};
    if (process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof word)
        return 0;
    return word;
}

static uint8_t kind_of(uint64_t word) {
    uint8_t bytes[8];
    memcpy(bytes, &word, sizeof bytes);
    int i = 0;
    bool repeated = false;
    while (bytes[i] == 0xf2 || bytes[i] == 0xf3 || bytes[i] == 0x3e || bytes[i] == 0x66 ||
           (bytes[i] & 0xf0) == 0x40)
        repeated |= (bytes[i] & 0xfe) == 0xf2, i++;
    if (bytes[i] == 0xe9 || bytes[i] == 0xeb || (bytes[i] & 0xf0) == 0x70 ||
        (bytes[i] == 0x0f && (bytes[i + 1] & 0xf0) == 0x80) ||
        (bytes[i] == 0xff && (bytes[i + 1] >> 3 & 6) == 4))
        return JUMP;
    if (bytes[i] == 0xc2 || bytes[i] == 0xc3)
        return RETURN;
    bool string = (bytes[i] >= 0xa4 && bytes[i] <= 0xa7) || (bytes[i] >= 0xaa && bytes[i] <= 0xaf);
    return repeated && string ? REPEATED : PLAIN;
}

static uint8_t instruction_at(const struct thread *thread, struct piece *piece) {
    uint64_t at = thread->pc - thread->process->bias[piece->object] - piece->start;
    if (piece->kinds[at] == UNKNOWN)
        piece->kinds[at] = kind_of(read_word(thread->tid, thread->pc));
    return piece->kinds[at];
}

static bool all_known(const struct process *process) {
    for (int i = 0; i < object_count; i++)
        if (!process->known[i])
            return false;
    return true;
}

static off_t place_of(const struct process *process, const struct piece *piece) {
    return (off_t)(piece->start + process->bias[piece->object]);
}

/* Puts breakpoints over all pieces, or the code back. */
static void cover(struct process *process, pid_t tid, bool covered) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", tid);
    int memory = open(name, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        fail(name);
    for (size_t i = 0; i < piece_count; i++) {
        struct piece *piece = &pieces[i];
        size_t size = piece->end - piece->start;
        if (piece->bytes)
            continue;
        piece->bytes = grow(NULL, 2 * size, 1);
        memset(piece->bytes + size, 0xcc, size);
        if (pread(memory, piece->bytes, size, place_of(process, piece)) != (ssize_t)size)
            fail("pread");
    }
    for (size_t i = 0; i < piece_count; i++) {
        const struct piece *piece = &pieces[i];
        size_t size = piece->end - piece->start;
        const uint8_t *bytes = piece->bytes + (covered ? size : 0);
        if (pwrite(memory, bytes, size, place_of(process, piece)) != (ssize_t)size)
            fail("pwrite");
    }
    close(memory);
    process->covered = covered;
}

/* ---- the tree ---- */

static uint32_t add_node(struct process *process, uint32_t parent, uint64_t site, uint64_t callee) {
    if (++process->node_count >= process->node_room) {
        process->node_room = 2 * process->node_room + 64;
        process->nodes = grow(process->nodes, process->node_room, sizeof *process->nodes);
    }
    process->nodes[process->node_count] =
        (struct node){.parent = parent, .site = site, .callee = callee};
    return process->node_count;
}

/* The one above FROM, or FROM, with that site and callee; 0: none. */
static uint32_t find_above(const struct process *process, uint32_t from, uint64_t site,
                           uint64_t callee) {
    uint32_t n = from;
    while (n && (process->nodes[n].callee != callee || process->nodes[n].site != site))
        n = process->nodes[n].parent;
    return n;
}

static uint32_t find_node(struct process *process, uint32_t from, uint64_t site, uint64_t callee) {
    for (uint32_t n = 1; n <= process->node_count; n++)
        if (process->nodes[n].parent == from && process->nodes[n].callee == callee &&
            process->nodes[n].site == site)
            return n;
    return add_node(process, from, site, callee);
}

static void push(struct thread *thread, uint32_t node, uint64_t stack, const struct piece *piece) {
    if (thread->depth == thread->room) {
        thread->room = 2 * thread->room + 64;
        thread->stack_of = grow(thread->stack_of, thread->room, sizeof *thread->stack_of);
    }
    thread->stack_of[thread->depth++] = (struct activation){stack, node, piece};
    if (thread->process->nodes[node].depth++ == 0)
        thread->process->nodes[node].begin = thread->now;
}

static void end_top(struct thread *thread) {
    struct node *node = &thread->process->nodes[thread->stack_of[--thread->depth].node];
    if (--node->depth == 0)
        node->inclusive += thread->now - node->begin;
}

static struct activation *top_of(const struct thread *thread) {
    return &thread->stack_of[thread->depth - 1];
}

static void end_below(struct thread *thread, uint64_t stack) {
    while (top_of(thread)->stack < stack)
        end_top(thread);
}

static void enter(struct thread *thread, const struct piece *piece, uint64_t stack) {
    struct process *process = thread->process;
    end_below(thread, stack + 1);
    uint64_t site = read_word(thread->tid, stack), callee = entry_of(process, piece);
    uint32_t from = top_of(thread)->node, above = find_above(process, from, site, callee);
    uint32_t node = above ? from : find_node(process, from, site, callee);
    process->nodes[above ? above : node].calls++;
    push(thread, node, stack, piece);
}

static void begin_thread(struct thread *thread, struct process *process) {
    thread->process = process;
    process->threads++;
    uint32_t root = add_node(process, 0, 0, 0);
    push(thread, root, UINT64_MAX, NULL);
}

/* The child goes on where its parent is, with nothing counted. */
static void copy_path(struct thread *child, const struct thread *parent, struct process *process) {
    begin_thread(child, process);
    for (uint32_t i = 1; i < parent->depth; i++) {
        const struct activation *old = &parent->stack_of[i];
        const struct node *from = &parent->process->nodes[old->node];
        uint32_t node = top_of(child)->node;
        if (old->node != old[-1].node)
            node = find_node(process, node, from->site, from->callee);
        push(child, node, old->stack, old->piece);
    }
}

/* ---- stepping ---- */

static bool same_function(const struct piece *a, const struct piece *b) {
    return a && b && a->object == b->object && a->entry == b->entry;
}

/* The thread stands in front of an instruction; one has been executed unless a handler began. */
static void step(struct thread *thread) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers))
        return;
    struct process *process = thread->process;
    bool handler = thread->injected && registers.rsp + 512 < thread->stack;
    struct piece *piece = (struct piece *)thread->piece;
    uint8_t kind = piece && !handler ? instruction_at(thread, piece) : PLAIN;
    bool again = kind == REPEATED && registers.rip == thread->pc;
    if (piece && !handler && !again)
        thread->now++;
    struct piece *next = piece_at(process, registers.rip);
    /* A goto out of a nested function sets the stack pointer some instructions before it jumps. */
    bool stays =
        kind == PLAIN && same_function(piece, next) && same_function(top_of(thread)->piece, piece);
    bool iterates = kind == JUMP && same_function(piece, next) &&
                    same_function(top_of(thread)->piece, piece) &&
                    top_of(thread)->stack == registers.rsp;
    if (!again) {
        if (!stays)
            end_below(thread, registers.rsp);
        if (kind == JUMP && !same_function(piece, next) && top_of(thread)->stack == registers.rsp &&
            same_function(top_of(thread)->piece, piece))
            end_top(thread);
        if (next && registers.rip == entry_of(process, next) && !iterates)
            enter(thread, next, registers.rsp);
    }
    thread->pc = registers.rip;
    thread->stack = registers.rsp;
    thread->piece = next;
    thread->injected = false;
}

static void resume(struct thread *thread, int signal) {
    thread->injected = signal != 0;
    ptrace(thread->process->covered ? PTRACE_CONT : PTRACE_SINGLESTEP, thread->tid, NULL,
           (void *)(long)signal);
}

/* A breakpoint: the thread comes back to the pieces. */
static void come_back(struct thread *thread) {
    struct user_regs_struct registers;
    cover(thread->process, thread->tid, false);
    if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers))
        return;
    registers.rip--;
    ptrace(PTRACE_SETREGS, thread->tid, NULL, &registers);
}

static struct thread *find_thread(pid_t tid) {
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i]->tid == tid)
            return threads[i];
    struct thread *thread = grow(NULL, 1, sizeof *thread);
    *thread = (struct thread){.tid = tid};
    if (thread_count == sizeof threads / sizeof *threads)
        fail("too many threads");
    return threads[thread_count++] = thread;
}

static struct process *add_process(pid_t pid) {
    struct process *process = grow(NULL, 1, sizeof *process);
    *process = (struct process){.pid = pid};
    *processes_end = process;
    processes_end = &process->next;
    return process;
}

static void start_child(struct thread *parent, pid_t tid, int event) {
    struct thread *child = find_thread(tid);
    if (event == PTRACE_EVENT_CLONE) {
        if (parent->process->covered)
            cover(parent->process, parent->tid, false);
        begin_thread(child, parent->process);
    } else {
        struct process *process = add_process(tid);
        memcpy(process->known, parent->process->known, sizeof process->known);
        memcpy(process->bias, parent->process->bias, sizeof process->bias);
        process->covered = parent->process->covered;
        copy_path(child, parent, process);
        child->piece = parent->piece;
    }
    if (child->stopped)
        resume(child, 0);
}

static void end_thread(struct thread *thread) {
    while (thread->process && thread->depth)
        end_top(thread);
    if (thread->process)
        thread->process->threads--;
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i] == thread)
            threads[i] = threads[--thread_count];
    free(thread->stack_of);
    free(thread);
}

static void stopped(struct thread *thread, int status) {
    int event = status >> 16, signal = WSTOPSIG(status);
    unsigned long message = 0;
    if (!thread->process) {
        thread->stopped = true;
        return;
    }
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message);
        start_child(thread, (pid_t)message, event);
        resume(thread, 0);
    } else if (event) {
        resume(thread, 0);
    } else if (signal == SIGTRAP) {
        static unsigned turns;
        struct process *process = thread->process;
        if (!all_known(process) && turns++ % 256 == 0)
            find_objects(process);
        if (process->covered)
            come_back(thread);
        step(thread);
        if (!thread->piece && process->threads == 1 && all_known(process))
            cover(process, thread->tid, true);
        resume(thread, 0);
    } else if (signal == SIGSTOP && !thread->pc) {
        resume(thread, 0);
    } else {
        resume(thread, signal);
    }
}

static int trace(pid_t root) {
    int result = 0, status;
    waitpid(root, &status, 0);
    ptrace(PTRACE_SETOPTIONS, root, NULL,
           PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    begin_thread(find_thread(root), add_process(root));
    resume(threads[0], 0);
    for (;;) {
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno == ECHILD)
            return result;
        if (tid < 0)
            fail("waitpid");
        struct thread *thread = find_thread(tid);
        if (WIFSTOPPED(status)) {
            stopped(thread, status);
            continue;
        }
        end_thread(thread);
        if (tid == root)
            result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

static void print(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out)
        fail(path);
    for (const struct process *process = processes; process; process = process->next) {
        fprintf(out, "process %d\n", process->pid);
        for (int i = 0; i < object_count; i++)
            if (process->known[i])
                fprintf(out, "object %s %llx\n", objects[i].path,
                        (unsigned long long)process->bias[i]);
        for (uint32_t n = 1; n <= process->node_count; n++) {
            const struct node *node = &process->nodes[n];
            fprintf(out, "node %u %u %llx %llx %llu %llu\n", n, node->parent,
                    (unsigned long long)node->site, (unsigned long long)node->callee,
                    (unsigned long long)node->calls, (unsigned long long)node->inclusive);
        }
    }
    if (fclose(out))
        fail(path);
}

static bool add_piece(const char *text) {
    unsigned long long start, end, entry;
    int fields = sscanf(text, "%llx-%llx=%llx", &start, &end, &entry);
    if (fields < 2 || !object_count || piece_count == PIECES || end <= start)
        return false;
    struct piece piece = {.object = object_count - 1,
                          .start = start,
                          .end = end,
                          .entry = fields == 3 ? entry : start};
    piece.kinds = grow(NULL, end - start, 1);
    memset(piece.kinds, UNKNOWN, end - start);
    pieces[piece_count++] = piece;
    return true;
}

int main(int argc, char **argv) {
    const char *output = NULL;
    int at = 1;
    for (; at + 1 < argc; at++) {
        if (strcmp(argv[at], "--object") == 0 && object_count < OBJECTS) {
            const char *path = argv[++at];
            objects[object_count++] = (struct object){path, first_address(path)};
        } else if (strcmp(argv[at], "-o") == 0) {
            output = argv[++at];
        } else if (!add_piece(argv[at])) {
            break;
        }
    }
    if (at >= argc || !output || !piece_count) {
        fputs("usage: contexts --object PATH START-END[=ENTRY]... -o FILE PROGRAM ARGS...\n",
              stderr);
        return 125;
    }
    pid_t pid = fork();
    if (pid == 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)sched_getcpu(), &set);
        sched_setaffinity(0, sizeof set, &set);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[at], argv + at);
        fail(argv[at]);
    }
    int status = trace(pid);
    print(output);
    return status;
}
