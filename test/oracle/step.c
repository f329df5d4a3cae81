/* step.c: counts every instruction that a program executes, by single step.
 *
 *     step [--whole] --count START-END:OBJECT... -o FILE PROGRAM ARGS...
 *
 * The oracle of exact counts.  It shares no code with the tool: ptrace stops the program before
 * every instruction, and each stop counts the instruction that is about to run.  All threads and
 * children are followed (fork, vfork, clone, exec).  Counted is what lies between START and END,
 * addresses as linked, hexadecimal, of an OBJECT, an executable or shared object.
 *
 * FILE gets a record for every process image, in the order of their beginnings:
 *
 *     process PID PARENT PROGRAM
 *     object PATH
 *     ADDRESS COUNT            address as linked, hexadecimal; only where COUNT is not 0
 *
 * A child of vfork shares its parent's memory until it executes another program, so until then it
 * counts there.  The exit status is the program's own, 128 + N after signal N.
 *
 * Code that is not counted need not be stepped.  When the only thread of a process leaves what is
 * counted, all of that is overwritten with breakpoints and the thread runs freely; whichever way it
 * comes back (return, callback, signal handler, landing pad, longjmp), it meets one, the code is
 * put back, and stepping goes on.  With --whole, or with several threads, everything is stepped.
 *
 * Invariant: an instruction that has been counted and did not run because a signal handler came
 * first is taken back, as it will be met again; so also a repeated string instruction, where every
 * iteration stops anew at the same address, counts once.
 *
 * Where it is not perfect: a SIGTRAP that the program sends itself is taken for a step; an object
 * that the program loads while it runs freely is not seen before the next stop, so constructors
 * need
 * --whole; code mapped by other means than the dynamic linker's at an address where other code was
 * before is not noticed; an instruction that faults, and whose handler jumps elsewhere, does not
 * count. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is asked for on the command line. */
struct span {
    const char *path;
    uint64_t start, end; /* as linked */
};

struct object {
    struct object *next;
    const struct span *span;
    uint8_t *bytes;      /* of the file */
    size_t size;         /* of the file */
    uint64_t *counts;    /* by offset in the file */
    uint64_t start, end; /* of the span, offsets in the file */
};

struct mapping {
    uint64_t start, end, offset;
    struct object *object; /* NULL: not counted */
    bool linker;           /* code of the dynamic linker */
};

/* A process image: what lives between two execs, and the memory that it counts in. */
struct image {
    struct image *next;
    pid_t pid, parent;
    char *program;
    struct object *objects;
    struct mapping *mappings;
    size_t mapping_count;
    size_t threads; /* the living ones, a vfork child too */
    int memory;     /* descriptor of /proc/PID/mem */
    bool stale;     /* mappings are to be read anew */
    bool covered;   /* breakpoints stand all over the spans */
};

struct thread {
    pid_t tid;
    struct image *image; /* NULL: its parent has not told of it yet */
    struct mapping at;   /* that the last instruction lies in */
    uint64_t pc;         /* the last one that was counted */
    uint64_t *counted;   /* its count; NULL: it lies in no span */
    bool stopped;        /* waits for its parent's word */
    bool runs;           /* freely, up to a breakpoint */
};

enum {
    SPANS = 16
};
static struct span spans[SPANS];
static size_t span_count;
static struct image *images, **images_end = &images;
static struct thread *threads; /* the living ones */
static size_t thread_count, thread_capacity;
static bool whole;

static _Noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("step: ", stderr);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", strerror(errno));
    va_end(arguments);
    exit(125);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("calloc");
    return memory;
}

static char *copy(const char *text) {
    char *memory = strdup(text);
    if (!memory)
        fail("strdup");
    return memory;
}

/* ---- What lies where ---- */

/* Where the file has what is linked at ADDRESS; 0: nowhere. */
static uint64_t offset_of(const struct object *object, uint64_t address) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)object->bytes;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(object->bytes + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && address - segment[i].p_vaddr <= segment[i].p_filesz)
            return address - segment[i].p_vaddr + segment[i].p_offset;
    return 0;
}

static struct object *add_object(struct image *image, const struct span *span) {
    FILE *file = fopen(span->path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        fail("'%s'", span->path);
    struct object *object = allocate(1, sizeof *object);
    object->span = span;
    object->size = (size_t)ftell(file);
    object->counts = allocate(object->size, sizeof *object->counts);
    object->bytes = allocate(object->size, 1);
    rewind(file);
    if (object->size < sizeof(Elf64_Ehdr) ||
        fread(object->bytes, 1, object->size, file) != object->size)
        fail("'%s'", span->path);
    fclose(file);
    object->start = offset_of(object, span->start);
    object->end = offset_of(object, span->end);
    object->next = image->objects;
    image->objects = object;
    return object;
}

/* The object at PATH where it is one that counts. */
static struct object *find_object(struct image *image, const char *path) {
    for (struct object *object = image->objects; object; object = object->next)
        if (strcmp(object->span->path, path) == 0)
            return object;
    for (size_t i = 0; i < span_count; i++)
        if (strcmp(spans[i].path, path) == 0)
            return add_object(image, &spans[i]);
    return NULL;
}

static void add_mapping(struct image *image, const char *line) {
    unsigned long start, end, offset;
    char access[5];
    int path_at = 0;
    if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &start, &end, access, &offset, &path_at) < 4 ||
        access[2] != 'x')
        return;
    const char *path = path_at ? line + path_at : "";
    const char *name = strrchr(path, '/');
    struct mapping mapping = {.start = start, .end = end, .offset = offset};
    mapping.linker = name && strncmp(name, "/ld-", 4) == 0;
    mapping.object = find_object(image, path);
    image->mappings =
        realloc(image->mappings, (image->mapping_count + 1) * sizeof *image->mappings);
    if (!image->mappings)
        fail("realloc");
    image->mappings[image->mapping_count++] = mapping;
}

static void read_mappings(struct image *image, pid_t tid) {
    char path[64], line[4400];
    snprintf(path, sizeof path, "/proc/%d/maps", tid);
    FILE *file = fopen(path, "r");
    if (!file)
        fail("'%s'", path);
    image->mapping_count = 0;
    image->stale = false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        add_mapping(image, line);
    }
    fclose(file);
}

static const struct mapping *look_up(const struct image *image, uint64_t pc) {
    for (size_t i = 0; i < image->mapping_count; i++)
        if (pc - image->mappings[i].start < image->mappings[i].end - image->mappings[i].start)
            return &image->mappings[i];
    return NULL;
}

/* Makes thread->at the mapping of PC.  Only the dynamic linker maps code, so who leaves it may
 * have other mappings than before. */
static void find_mapping(struct thread *thread, uint64_t pc) {
    if (pc - thread->at.start < thread->at.end - thread->at.start && !thread->image->stale)
        return;
    if (thread->at.linker || thread->image->stale)
        read_mappings(thread->image, thread->tid);
    const struct mapping *mapping = look_up(thread->image, pc);
    if (!mapping) {
        read_mappings(thread->image, thread->tid);
        mapping = look_up(thread->image, pc);
    }
    thread->at = mapping ? *mapping : (struct mapping){.start = pc, .end = pc + 1};
}

/* ---- Breakpoints over all that is counted ---- */

/* Writes breakpoints, or what the files have, over the spans as they are mapped. */
static void write_spans(struct image *image, bool cover) {
    for (size_t i = 0; i < image->mapping_count; i++) {
        const struct mapping *mapping = &image->mappings[i];
        const struct object *object = mapping->object;
        if (!object)
            continue;
        uint64_t first = mapping->offset, last = mapping->offset + mapping->end - mapping->start;
        first = first > object->start ? first : object->start;
        last = last < object->end ? last : object->end;
        if (first >= last)
            continue;
        size_t size = last - first;
        uint8_t *bytes = allocate(size, 1);
        if (cover)
            memset(bytes, 0xcc, size);
        else
            memcpy(bytes, object->bytes + first, size);
        off_t at = (off_t)(mapping->start + first - mapping->offset);
        if (pwrite(image->memory, bytes, size, at) != (ssize_t)size)
            fail("writing the memory of process %d", image->pid);
        free(bytes);
    }
    image->covered = cover;
}

static void open_memory(struct image *image) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", image->pid);
    image->memory = open(path, O_RDWR | O_CLOEXEC);
    if (image->memory < 0)
        fail("'%s'", path);
}

/* ---- Threads and images ---- */

static struct image *add_image(pid_t pid, pid_t parent) {
    char path[64], program[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    ssize_t length = readlink(path, program, sizeof program - 1);
    if (length < 0)
        fail("'%s'", path);
    program[length] = '\0';
    struct image *image = allocate(1, sizeof *image);
    image->pid = pid;
    image->parent = parent;
    image->program = copy(program);
    image->stale = true;
    open_memory(image);
    *images_end = image;
    images_end = &image->next;
    return image;
}

static struct thread *find_thread(pid_t tid) {
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i].tid == tid)
            return &threads[i];
    return NULL;
}

/* Invalidates pointers to other threads. */
static struct thread *add_thread(pid_t tid) {
    if (thread_count == thread_capacity) {
        thread_capacity = thread_capacity ? 2 * thread_capacity : 64;
        threads = realloc(threads, thread_capacity * sizeof *threads);
        if (!threads)
            fail("realloc");
    }
    threads[thread_count] = (struct thread){.tid = tid};
    return &threads[thread_count++];
}

static void set_image(struct thread *thread, struct image *image) {
    if (thread->image && --thread->image->threads == 0)
        close(thread->image->memory);
    thread->image = image;
    if (image)
        image->threads++;
}

static void remove_thread(pid_t tid) {
    struct thread *thread = find_thread(tid);
    if (!thread)
        return;
    set_image(thread, NULL);
    *thread = threads[--thread_count];
}

/* Lets the thread run one instruction, or up to what is counted where that may be. */
static void resume(struct thread *thread, int signal) {
    struct image *image = thread->image;
    thread->runs = !whole && image->threads == 1 && !thread->counted;
    if (thread->runs && image->stale)
        read_mappings(image, thread->tid);
    if (thread->runs != image->covered)
        write_spans(image, thread->runs);
    int request = thread->runs ? PTRACE_CONT : PTRACE_SINGLESTEP;
    if (ptrace(request, thread->tid, NULL, signal) && errno != ESRCH)
        fail("ptrace resume");
}

static bool same_process(pid_t tid, pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", pid, tid);
    return access(path, F_OK) == 0;
}

/* ---- One stop after the other ---- */

static bool read_bytes(pid_t tid, uint64_t address, uint8_t bytes[16]) {
    for (int i = 0; i < 2; i++) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKTEXT, tid, address + 8 * (uint64_t)i, NULL);
        if (errno)
            return i > 0;
        memcpy(bytes + 8 * i, &word, 8);
    }
    return true;
}

/* Intel SDM volume 2, REP/REPE/REPNE: a string instruction behind F2 or F3. */
static bool is_repeated_string(pid_t tid, uint64_t pc) {
    uint8_t bytes[16] = {0};
    if (!read_bytes(tid, pc, bytes))
        return false;
    bool repeat = false;
    for (int i = 0; i < 15; i++) {
        uint8_t b = bytes[i];
        if (b == 0xf2 || b == 0xf3)
            repeat = true;
        else if (b != 0x66 && b != 0x67 && b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 &&
                 b != 0x64 && b != 0x65 && (b & 0xf0) != 0x40)
            return repeat && ((b >= 0xa4 && b <= 0xa7) || (b >= 0xaa && b <= 0xaf) ||
                              (b >= 0x6c && b <= 0x6f));
    }
    return false;
}

static uint64_t read_pc(pid_t tid) {
    errno = 0;
    long pc = ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.rip), NULL);
    if (errno && errno != ESRCH)
        fail("ptrace registers");
    return (uint64_t)pc;
}

/* Counts the instruction that the thread stands at. */
static void count(struct thread *thread) {
    uint64_t pc = read_pc(thread->tid);
    bool again = pc == thread->pc && thread->counted && is_repeated_string(thread->tid, pc);
    if (again)
        return;
    find_mapping(thread, pc);
    thread->pc = pc;
    thread->counted = NULL;
    struct object *object = thread->at.object;
    uint64_t offset = pc - thread->at.start + thread->at.offset;
    if (object && offset >= object->start && offset < object->end) {
        thread->counted = &object->counts[offset];
        ++*thread->counted;
    }
}

/* A thread that ran freely has come back to what is counted: it met the breakpoint there. */
static void come_back(struct thread *thread) {
    uint64_t pc = read_pc(thread->tid) - 1;
    thread->runs = false;
    thread->image->stale = true;
    if (ptrace(PTRACE_POKEUSER, thread->tid, offsetof(struct user, regs.rip), pc))
        fail("ptrace registers");
    write_spans(thread->image, false);
    count(thread);
}

static void start_image(pid_t tid, pid_t former) {
    struct thread *thread = find_thread(former);
    pid_t parent = getpid();
    if (thread && thread->image)
        parent = thread->image->pid == tid ? thread->image->parent : thread->image->pid;
    if (former != tid)
        remove_thread(former);
    thread = find_thread(tid);
    if (!thread)
        thread = add_thread(tid);
    set_image(thread, NULL);
    *thread = (struct thread){.tid = tid};
    set_image(thread, add_image(tid, parent));
    resume(thread, 0);
}

static void start_child(pid_t parent, pid_t child, int event) {
    if (!find_thread(child))
        add_thread(child);
    struct thread *from = find_thread(parent), *thread = find_thread(child);
    bool shares = event == PTRACE_EVENT_VFORK ||
                  (event == PTRACE_EVENT_CLONE && same_process(child, from->image->pid));
    set_image(thread, shares ? from->image : add_image(child, from->image->pid));
    if (!shares && from->image->covered) {
        read_mappings(thread->image, child);
        thread->image->covered = true;
    }
    resume(from, 0);
    thread = find_thread(child);
    if (thread->stopped) {
        thread->stopped = false;
        count(thread);
        resume(thread, 0);
    }
}

/* Whether the process has a handler for SIGNAL. */
static bool is_caught(pid_t tid, int signal) {
    char path[64], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "SigCgt: %llx", &mask) == 1)
            break;
    fclose(file);
    return mask >> (signal - 1) & 1;
}

/* A signal is about to be delivered.  A handler runs before the instruction that was counted. */
static void deliver(struct thread *thread, int signal) {
    if (thread->counted && is_caught(thread->tid, signal)) {
        if (read_pc(thread->tid) == thread->pc)
            --*thread->counted;
        thread->pc = 0;
    }
    resume(thread, signal);
}

static void stop(pid_t tid, int status) {
    int event = status >> 16, signal = WSTOPSIG(status);
    unsigned long message = 0;
    if (event && event != PTRACE_EVENT_STOP)
        ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message);
    if (event == PTRACE_EVENT_EXEC) {
        start_image(tid, (pid_t)message);
        return;
    }
    struct thread *thread = find_thread(tid);
    if (!thread)
        thread = add_thread(tid);
    if (!thread->image) {
        thread->stopped = true;
        return;
    }
    switch (event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        start_child(tid, (pid_t)message, event);
        return;
    case PTRACE_EVENT_STOP:
        if (signal == SIGTRAP) {
            count(thread);
            resume(thread, 0);
        } else {
            ptrace(PTRACE_LISTEN, tid, NULL, NULL);
        }
        return;
    case 0:
        if (signal != SIGTRAP) {
            deliver(thread, signal);
            return;
        }
        if (thread->runs)
            come_back(thread);
        else
            count(thread);
        resume(thread, 0);
        return;
    default:
        resume(thread, 0);
    }
}

/* Steps until no traced process is left.  Returns the exit status of ROOT. */
static int trace(pid_t root) {
    int result = 0;
    for (;;) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno == ECHILD)
            return result;
        if (tid < 0)
            fail("waitpid");
        if (WIFSTOPPED(status)) {
            stop(tid, status);
            continue;
        }
        remove_thread(tid);
        if (tid == root)
            result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

/* ---- What is printed ---- */

static void print_object(FILE *out, const struct object *object) {
    fprintf(out, "object %s\n", object->span->path);
    for (uint64_t at = object->start; at < object->end; at++)
        if (object->counts[at])
            fprintf(out, "%llx %llu\n",
                    (unsigned long long)(at - object->start + object->span->start),
                    (unsigned long long)object->counts[at]);
}

static void print(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out)
        fail("'%s'", path);
    for (struct image *image = images; image; image = image->next) {
        fprintf(out, "process %d %d %s\n", image->pid, image->parent, image->program);
        for (struct object *object = image->objects; object; object = object->next)
            print_object(out, object);
    }
    if (fclose(out))
        fail("'%s'", path);
}

/* Keeps tracer and traced on one processor: a step there costs a third of one between two. */
static void pin(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set))
        fail("sched_setaffinity");
}

/* Starts the program, seized before its first instruction. */
static pid_t start(char **command) {
    int gate[2];
    if (pipe2(gate, O_CLOEXEC))
        fail("pipe");
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        char go;
        if (read(gate[0], &go, 1) != 1)
            _exit(125);
        execvp(command[0], command);
        fail("'%s'", command[0]);
    }
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, pid, NULL, options) || write(gate[1], "", 1) != 1)
        fail("ptrace seize");
    close(gate[0]);
    close(gate[1]);
    return pid;
}

static bool add_span(char *text) {
    unsigned long long start, end;
    int path_at = 0;
    if (span_count == SPANS || sscanf(text, "%llx-%llx:%n", &start, &end, &path_at) < 2 || !path_at)
        return false;
    spans[span_count++] = (struct span){.path = text + path_at, .start = start, .end = end};
    return true;
}

int main(int argc, char **argv) {
    const char *output = NULL;
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--whole") == 0)
            whole = true;
        else if (strcmp(argv[at], "-o") == 0 && at + 1 < argc)
            output = argv[++at];
        else if (strcmp(argv[at], "--count") != 0 || at + 1 >= argc || !add_span(argv[++at]))
            break;
    }
    if (at >= argc || argv[at][0] == '-' || !span_count || !output) {
        fputs("usage: step [--whole] --count START-END:OBJECT... -o FILE PROGRAM ARGS...\n",
              stderr);
        return 125;
    }
    pin();
    int status = trace(start(argv + at));
    print(output);
    return status;
}
