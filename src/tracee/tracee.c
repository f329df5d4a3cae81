/* tracee.c: a program under ptrace; see tracee.h. */
#include "tracee/tracee.h"

#include "util/diag.h"
#include "util/parent.h"
#include "util/process.h"
#include "util/refusal.h"
#include "x86/trap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STATUS_NOT_STARTED = 126,
    PAUSES = 20 /* of one millisecond each, for threads that have stopped in front of their end */
};

static struct tracee_thread *find_thread(struct tracee *tracee, pid_t thread) {
    for (size_t i = 0; i < tracee->threads.count; i++)
        if (tracee->threads.data[i].thread == thread)
            return &tracee->threads.data[i];
    return NULL;
}

static struct tracee_thread *add_thread(struct tracee *tracee, pid_t thread) {
    struct tracee_thread *known = find_thread(tracee, thread);
    if (known)
        return known;
    vector_push(&tracee->arena, &tracee->threads, (struct tracee_thread){.thread = thread});
    return &tracee->threads.data[tracee->threads.count - 1];
}

static void remove_thread(struct tracee *tracee, pid_t thread) {
    struct tracee_thread *known = find_thread(tracee, thread);
    if (known)
        *known = tracee->threads.data[--tracee->threads.count];
}

static void resume(struct tracee_thread *thread, int signal) {
    thread->running = true;
    ptrace(PTRACE_CONT, thread->thread, NULL, (void *)(intptr_t)signal);
}

bool read_memory(pid_t process, uint64_t address, void *bytes, size_t size) {
    struct iovec here = {bytes, size}, there = {(void *)address, size};
    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool read_process(const struct memory *memory, uint64_t address, void *bytes, size_t size) {
    const struct process_memory *its = (const struct process_memory *)memory;
    return read_memory(its->process, address, bytes, size);
}

struct process_memory process_memory(pid_t process, uint64_t bias) {
    return (struct process_memory){{read_process, bias}, process};
}

pid_t tracee_memory(const struct tracee *tracee) {
    pid_t found = 0;
    for (size_t i = 0; i < tracee->threads.count; i++) {
        const struct tracee_thread *thread = &tracee->threads.data[i];
        bool gone = thread->ending && thread->running;
        if (!gone && !thread->unclaimed && (!found || thread->thread == tracee->process))
            found = thread->thread;
    }
    return found ? found : tracee->process;
}

bool read_tracee(const struct tracee *tracee, uint64_t address, void *bytes, size_t size) {
    return read_memory(tracee_memory(tracee), address, bytes, size);
}

bool write_data(pid_t process, uint64_t address, const void *bytes, size_t size) {
    struct iovec here = {(void *)bytes, size}, there = {(void *)address, size};
    return process_vm_writev(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* /proc/PID/mem also writes to read-only pages. */
bool peek_memory(pid_t process, uint64_t address, void *bytes, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = pread(fd, bytes, size, (off_t)address) == (ssize_t)size;
    close(fd);
    return good;
}

bool write_memory(pid_t process, uint64_t address, const void *bytes, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = pwrite(fd, bytes, size, (off_t)address) == (ssize_t)size;
    close(fd);
    return good;
}

bool write_tracee(const struct tracee *tracee, uint64_t address, const void *bytes, size_t size) {
    return write_memory(tracee_memory(tracee), address, bytes, size);
}

/* The child stops, executes the program, and stops again. PATH NULL: argv[0], which is found in
 * PATH. If PARENT ends before it has said by an option that the child then ends, too, the program
 * is not executed. */
static _Noreturn void become(struct arena *arena, pid_t parent, const char *path, char **argv,
                             char **environment) {
    end_with_parent(parent, SIGKILL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        error("cannot run '%s' under control: %s", argv[0], refusal(arena, "ptrace", 0, errno));
        _exit(STATUS_NOT_STARTED);
    }
    raise(SIGSTOP);
    prctl(PR_SET_PDEATHSIG, 0);
    personality(ADDR_NO_RANDOMIZE); /* if this is refused, addresses are random */
    restore_child_statuses();
    if (path)
        execve(path, argv, environment);
    else
        execvp(argv[0], argv);
    error("cannot run '%s': %s", path ? path : argv[0], strerror(errno));
    _exit(STATUS_NOT_STARTED);
}

/* Checks that the system allows all that quipu needs to do with CHILD, which is stopped. Returns
 * NULL or a message. */
static const char *check_control(struct arena *arena, pid_t child) {
    uint8_t byte;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)TRACEE_OPTIONS) != 0)
        return refusal(arena, "ptrace", 0, errno);
    if (!read_memory(child, 0, &byte, sizeof byte) &&
        errno != EFAULT) /* nothing is mapped at address 0 */
        return refusal(arena, "process_vm_readv", 0, errno);
    return NULL;
}

/* CHILD has come to its first stop. Continues it to where it has executed the program. Returns
 * false if it has ended. */
static bool run_to_program(pid_t child, int *status) {
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(long)PTRACE_O_EXITKILL);
    while (WSTOPSIG(*status) != SIGTRAP) {
        intptr_t signal = WSTOPSIG(*status) == SIGSTOP ? 0 : WSTOPSIG(*status);
        if (ptrace(PTRACE_CONT, child, NULL, (void *)signal) != 0 ||
            waitpid(child, status, 0) != child || !WIFSTOPPED(*status))
            return false;
    }
    return true;
}

static const char *start(struct tracee *tracee, const char *path, char **argv, char **environment) {
    int status;
    *tracee = (struct tracee){0};
    if (!has_proc())
        return no_proc;
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        return strerror(errno);
    if (child == 0)
        become(&tracee->arena, parent, path, argv, environment);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS
                   ? deadly_refusal(&tracee->arena, "ptrace")
                   : "";
    if (!run_to_program(child, &status))
        return "";
    const char *wrong = check_control(&tracee->arena, child);
    if (wrong) {
        kill(child, SIGKILL);
        waitpid(child, &status, __WALL);
        return wrong;
    }
    tracee->process = child;
    add_thread(tracee, child);
    return NULL;
}

const char *start_tracee(struct tracee *tracee, char **argv) {
    return start(tracee, NULL, argv, NULL);
}

const char *start_tracee_as(struct tracee *tracee, const char *path, char **argv,
                            char **environment) {
    return start(tracee, path, argv, environment);
}

bool has_random_addresses(const struct tracee *tracee) {
    char path[64];
    unsigned flags = ADDR_NO_RANDOMIZE;
    snprintf(path, sizeof path, "/proc/%d/personality", tracee->process);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    if (fscanf(file, "%x", &flags) != 1) /* NOLINT(cert-err34-c): the kernel's digits */
        flags = ADDR_NO_RANDOMIZE;
    fclose(file);
    return !(flags & ADDR_NO_RANDOMIZE);
}

uint64_t auxiliary_value(pid_t process, uint64_t type) {
    char path[64];
    Elf64_auxv_t value;
    uint64_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", process);
    FILE *file = fopen(path, "re");
    while (file && fread(&value, sizeof value, 1, file) == 1)
        if (value.a_type == type)
            found = value.a_un.a_val;
    if (file)
        fclose(file);
    return found;
}

uint64_t program_bias(pid_t process, uint64_t entry) {
    uint64_t address = auxiliary_value(process, AT_ENTRY);
    return address ? address - entry : 0;
}

void put_breakpoint(struct tracee *tracee, uint64_t address, bool over_nop) {
    struct breakpoint point = {.address = address, .over_nop = over_nop};
    const uint8_t trap = BREAKPOINT_BYTE;
    for (size_t i = 0; i < tracee->breakpoints.count; i++)
        if (tracee->breakpoints.data[i].address == address)
            return;
    if (read_tracee(tracee, address, &point.byte, 1) && write_tracee(tracee, address, &trap, 1))
        vector_push(&tracee->arena, &tracee->breakpoints, point);
}

static void restore_bytes(const struct tracee *tracee, pid_t process) {
    for (size_t i = 0; i < tracee->breakpoints.count; i++)
        write_memory(process, tracee->breakpoints.data[i].address,
                     &tracee->breakpoints.data[i].byte, 1);
}

void set_breakpoints(const struct tracee *tracee, pid_t process) {
    const uint8_t trap = BREAKPOINT_BYTE;
    for (size_t i = 0; i < tracee->breakpoints.count; i++)
        write_memory(process, tracee->breakpoints.data[i].address, &trap, 1);
}

static const struct breakpoint *breakpoint_at(const struct tracee *tracee, uint64_t address) {
    for (size_t i = 0; i < tracee->breakpoints.count; i++)
        if (tracee->breakpoints.data[i].address == address)
            return &tracee->breakpoints.data[i];
    return NULL;
}

void forget_breakpoints(struct tracee *tracee, uint64_t start, uint64_t end) {
    size_t kept = 0;
    for (size_t i = 0; i < tracee->breakpoints.count; i++)
        if (tracee->breakpoints.data[i].address - start >= end - start)
            tracee->breakpoints.data[kept++] = tracee->breakpoints.data[i];
    tracee->breakpoints.count = kept;
}

bool has_breakpoint(const struct tracee *tracee, uint64_t address) {
    return breakpoint_at(tracee, address);
}

/* A thread may have reached a breakpoint without having been handled yet. It must not continue
 * behind it, so it is set back. */
void remove_breakpoints(struct tracee *tracee) {
    for (size_t i = 0; i < tracee->threads.count; i++) {
        struct tracee_thread *thread = &tracee->threads.data[i];
        uint64_t address;
        if (!thread->pending || !WIFSTOPPED(thread->pending) ||
            WSTOPSIG(thread->pending) != SIGTRAP || thread->pending >> 16 ||
            !trap_address(thread->thread, &address))
            continue;
        const struct breakpoint *point = breakpoint_at(tracee, address);
        if (!point)
            continue;
        thread->pending = 0;
        if (!point->over_nop)
            set_thread_address(thread->thread, address);
    }
    restore_bytes(tracee, tracee_memory(tracee));
    tracee->breakpoints.count = 0;
}

void step_over(struct tracee *tracee, pid_t thread, uint64_t address) {
    const struct breakpoint *point = breakpoint_at(tracee, address);
    const uint8_t trap = BREAKPOINT_BYTE;
    int status;
    if (!point)
        return;
    write_tracee(tracee, address, &point->byte, 1);
    if (ptrace(PTRACE_SINGLESTEP, thread, NULL, NULL) == 0 &&
        waitpid(thread, &status, __WALL) == thread && status != STEPPED)
        find_thread(tracee, thread)->pending = status;
    write_tracee(tracee, address, &trap, 1);
}

bool is_thread_of(pid_t process, pid_t thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", process, thread);
    return access(path, F_OK) == 0;
}

void release_child(struct tracee *tracee, pid_t child) {
    int status;
    if (find_thread(tracee, child))
        remove_thread(tracee, child); /* it is already stopped */
    else
        waitpid(child, &status, __WALL);
    restore_bytes(tracee, child);
    ptrace(PTRACE_DETACH, child, NULL, NULL);
}

bool follow_child(struct tracee *tracee, const struct thread_stop *stop) {
    switch (stop->reason) {
    case REASON_FORK:
    case REASON_VFORK:
        release_child(tracee, stop->child);
        return true;
    case REASON_VFORK_DONE:
        set_breakpoints(tracee, stop->thread); /* they were removed from the shared memory */
        return true;
    default:
        return false;
    }
}

/* The thread that executes another program gets the process's number. Its own number, FORMER, is
 * never reported again. The ends of other threads that were not reported yet still come. */
static void take_exec(struct tracee *tracee, pid_t number) {
    tracee->breakpoints.count = 0; /* its memory is new */
    tracee->is_other = true;
    struct tracee_thread *first = add_thread(tracee, tracee->process);
    const struct tracee_thread *former = find_thread(tracee, number);
    first->running = first->ending = false;
    if (!former || former == first)
        return;
    first->stop_asked = former->stop_asked;
    remove_thread(tracee, number);
}

/* The first stop of a new thread is a SIGSTOP, which may have come already. */
static void take_clone(struct tracee *tracee, pid_t number) {
    struct tracee_thread *fresh = add_thread(tracee, number);
    if (!fresh->unclaimed)
        fresh->stop_asked = fresh->running = true;
    fresh->unclaimed = false;
}

/* Handles a stop for an event of the kernel. Returns false if it is none. */
static bool take_event(struct tracee *tracee, const struct thread_stop *stop) {
    if (follow_child(tracee, stop))
        return true;
    switch (stop->reason) {
    case REASON_CLONE:
        take_clone(tracee, stop->child);
        return true;
    case REASON_EXEC:
        take_exec(tracee, stop->child);
        return true;
    default:
        return stop->reason == REASON_EVENT;
    }
}

/* Whether the thread has reached one of our breakpoints. If so, it is set back in front of the
 * instruction. */
static bool take_breakpoint(struct tracee *tracee, const struct thread_stop *stop) {
    const struct breakpoint *point =
        stop->reason == REASON_BREAKPOINT ? breakpoint_at(tracee, stop->address) : NULL;
    if (point && !point->over_nop)
        set_thread_address(stop->thread, stop->address);
    return point;
}

/* Handles a stop. Returns true at a breakpoint or in front of a thread's end. Otherwise the thread
 * continues, unless it is not known yet. */
static bool take_stop(struct tracee *tracee, pid_t number, int status, uint64_t *address) {
    bool unknown = !find_thread(tracee, number);
    struct tracee_thread *thread = add_thread(tracee, number);
    thread->running = false;
    thread->unclaimed = unknown;
    if (unknown)
        return false;
    struct thread_stop stop = read_stop(number, status, NULL);
    thread->ending |= stop.reason == REASON_EXIT;
    *address = stop.address;
    if (stop.reason == REASON_EXIT || take_breakpoint(tracee, &stop))
        return true;
    if (take_event(tracee, &stop)) {
        resume(find_thread(tracee, number), 0);
        return false;
    }
    bool ours = stop.signal == SIGSTOP && thread->stop_asked;
    thread->stop_asked &= !ours;
    bool left = stop.signal == SIGTRAP &&
                tracee->breakpoints.count == 0; /* left by a breakpoint that was removed */
    resume(thread, ours || left ? 0 : stop.signal);
    return false;
}

static void take_end(struct tracee *tracee, pid_t number, int status) {
    remove_thread(tracee, number);
    if (number == tracee->process) {
        tracee->ended = true;
        tracee->status = status;
    }
}

void stop_at_ends(const struct tracee *tracee) {
    ptrace(PTRACE_SETOPTIONS, tracee->process, NULL, (void *)(TRACEE_OPTIONS | PTRACE_O_TRACEEXIT));
}

/* Returns the next thread that has stopped or ended, and its STATUS. First come those with a
 * pending status; then all threads run, and it waits. -1: no thread is left. */
static pid_t next_status(struct tracee *tracee, int *status) {
    for (size_t i = 0; i < tracee->threads.count; i++) {
        struct tracee_thread *thread = &tracee->threads.data[i];
        *status = thread->pending;
        thread->pending = 0;
        if (*status)
            return thread->thread;
    }
    for (size_t i = 0; i < tracee->threads.count; i++) {
        struct tracee_thread *thread = &tracee->threads.data[i];
        if (!thread->running && !thread->unclaimed)
            resume(thread, 0);
    }
    return waitpid(-1, status, __WALL);
}

pid_t run_to_breakpoint(struct tracee *tracee, uint64_t *address) {
    while (!tracee->ended) {
        int status;
        pid_t number = next_status(tracee, &status);
        if (number < 0)
            tracee->ended = true;
        else if (!WIFSTOPPED(status))
            take_end(tracee, number, status);
        else if (take_stop(tracee, number, status, address))
            return number;
    }
    return 0;
}

/* Records a status that comes while all threads are being stopped. */
static void note_status(struct tracee *tracee, pid_t number, int status) {
    struct tracee_thread *thread = find_thread(tracee, number);
    if (!WIFSTOPPED(status)) {
        take_end(tracee, number, status);
        return;
    }
    if (!thread) {
        add_thread(tracee, number)->unclaimed = true;
        return;
    }
    thread->running = false;
    struct thread_stop stop = {0};
    if (status >> 16 == PTRACE_EVENT_EXEC)
        stop = read_stop(number, status, NULL);
    if (stop.reason == REASON_EXEC)
        take_exec(tracee, stop.child); /* a thread that is waited for has a new number */
    else if (status == STOPPED)
        thread->stop_asked = false;
    else
        thread->pending = status;
}

/* Whether the thread's next stop or its end is still to come. The kernel reports the end of the
 * process's first thread only behind those of all others, so it is not awaited. */
static bool is_awaited(const struct tracee *tracee, const struct tracee_thread *thread) {
    return thread->running && !(thread->ending && thread->thread == tracee->process);
}

static bool is_any_awaited(const struct tracee *tracee) {
    for (size_t i = 0; i < tracee->threads.count; i++)
        if (is_awaited(tracee, &tracee->threads.data[i]))
            return true;
    return false;
}

static bool stands_at_end(const struct tracee_thread *thread) {
    return thread->pending && WIFSTOPPED(thread->pending) &&
           thread->pending >> 16 == PTRACE_EVENT_EXIT;
}

/* Continues the threads that are stopped in front of their end. Returns whether there was one. */
static bool let_ended_go(struct tracee *tracee) {
    bool any = false;
    for (size_t i = 0; i < tracee->threads.count; i++) {
        struct tracee_thread *thread = &tracee->threads.data[i];
        if (!stands_at_end(thread))
            continue;
        thread->pending = 0;
        thread->ending = any = true;
        resume(thread, 0);
    }
    return any;
}

/* Returns the next thread that has stopped or ended, as waitpid does. A thread in an exec stops
 * only when all others have ended. So threads that are stopped in front of their end are continued
 * after a short time. */
static pid_t wait_for_any(struct tracee *tracee, int *status) {
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    bool ends = false;
    for (size_t i = 0; i < tracee->threads.count; i++)
        ends |= stands_at_end(&tracee->threads.data[i]);
    for (int i = 0; ends && i < PAUSES; i++) {
        pid_t number = waitpid(-1, status, __WALL | WNOHANG);
        if (number)
            return number;
        nanosleep(&pause, NULL);
    }
    let_ended_go(tracee);
    return waitpid(-1, status, __WALL);
}

/* Waits for all threads together: the order in which they stop is not known. */
static void wait_for_all(struct tracee *tracee) {
    while (!tracee->ended && is_any_awaited(tracee)) {
        int status;
        pid_t number = wait_for_any(tracee, &status);
        if (number < 0)
            return;
        note_status(tracee, number, status);
    }
}

void stop_tracee(struct tracee *tracee) {
    for (size_t i = 0; i < tracee->threads.count; i++) {
        struct tracee_thread *thread = &tracee->threads.data[i];
        if (!thread->running || thread->ending || thread->stop_asked)
            continue;
        syscall(SYS_tgkill, tracee->process, thread->thread, SIGSTOP);
        thread->stop_asked = true;
    }
    wait_for_all(tracee);
}

void release_copy(const struct tracee *tracee, pid_t copy) {
    restore_bytes(tracee, copy);
    ptrace(PTRACE_DETACH, copy, NULL, (void *)(intptr_t)SIGSTOP);
}

/* Handles a pending event of ptrace's own. Returns whether there was one. This may move the
 * threads. */
static bool settle_thread(struct tracee *tracee, struct tracee_thread *thread) {
    if (stands_at_end(thread))
        return let_ended_go(tracee);
    if (!thread->pending || !WIFSTOPPED(thread->pending) || !(thread->pending >> 16))
        return false;
    struct thread_stop stop = read_stop(thread->thread, thread->pending, NULL);
    thread->pending = 0;
    take_event(tracee, &stop);
    return true;
}

/* A new thread or child is under our control from its begin; an ending thread is until wait has
 * reported its end. Another debugger could not attach to it, and might try for ever. So these
 * states are completed before the process is released. */
static void settle(struct tracee *tracee) {
    for (size_t i = 0; i < tracee->threads.count && !tracee->ended; i++)
        if (settle_thread(tracee, &tracee->threads.data[i])) {
            wait_for_all(tracee);
            i = (size_t)-1;
        }
}

/* Waits until the process's first thread, which is about to end, can no longer be attached to. */
static void wait_for_first(const struct tracee *tracee) {
    const struct timespec pause = {.tv_nsec = 100 * 1000};
    for (size_t i = 0; i < tracee->threads.count; i++) {
        const struct tracee_thread *thread = &tracee->threads.data[i];
        while (thread->ending && !has_ended(tracee->process, thread->thread))
            nanosleep(&pause, NULL);
    }
}

void leave_tracee(struct tracee *tracee) {
    settle(tracee);
    wait_for_first(tracee);
    remove_breakpoints(tracee);
    for (size_t i = 0; i < tracee->threads.count; i++)
        ptrace(PTRACE_DETACH, tracee->threads.data[i].thread, NULL, (void *)(intptr_t)SIGSTOP);
}

void kill_tracee(struct tracee *tracee) {
    int status;
    if (tracee->ended || !tracee->process)
        return;
    kill(tracee->process, SIGKILL);
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0 && errno != EINTR)
            break;
        if (thread <= 0 || !WIFSTOPPED(status))
            continue;
        if (find_thread(tracee, thread) || is_thread_of(tracee->process, thread)) {
            ptrace(PTRACE_CONT, thread, NULL, NULL); /* it is stopped in front of its end */
        } else {
            restore_bytes(tracee, thread); /* a child that was not released yet */
            ptrace(PTRACE_DETACH, thread, NULL, NULL);
        }
    }
    tracee->ended = true;
}
