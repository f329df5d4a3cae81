// Checkpoints: copies of a stopped process keep its memory as it was, continue on their own, and
// can be copied again; what is shared with others is private in them; their files are closed; none
// is left.
#include "tracee/checkpoint.h"
#include "tracee/tracee.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    COPIES = 12,
    STEPS = 5,
    BYTES = 1 << 20,
    STRIDE = 4096
};

struct state {
    uint64_t steps;
    unsigned char bytes[BYTES]; /* each step changes all pages */
};

static struct state own;
static struct state *shared;
extern char system_call_here[];
static int faults;

static void expect(int condition, const char *what, uint64_t number) {
    if (!condition)
        printf("%s: %llu\n", what, (unsigned long long)number), faults++;
}

__attribute__((noinline)) static void change(struct state *state) {
    state->steps++;
    for (size_t i = 0; i < BYTES; i += STRIDE)
        state->bytes[i] = (unsigned char)(state->steps * 7 + i / STRIDE);
}

/* Stops behind each step; has an instruction that makes a system call. */
static _Noreturn void run_steps(void) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    for (;;) {
        __asm__ volatile("int3" ::: "memory");
        change(&own);
        change(shared);
        if (own.steps == UINT64_MAX)
            __asm__ volatile("system_call_here: syscall" ::: "rax", "rcx", "r11", "memory");
    }
}

/* Continues PROCESS by COUNT steps. */
static void go_on(pid_t process, int count) {
    int status = 0;
    for (int i = 0; i < count; i++)
        if (ptrace(PTRACE_CONT, process, NULL, NULL) != 0 ||
            waitpid(process, &status, __WALL) != process || !WIFSTOPPED(status) ||
            WSTOPSIG(status) != SIGTRAP) {
            printf("process %d does not stop at a step\n", (int)process);
            exit(1);
        }
}

/* Whether STATE in PROCESS is as behind STEPS. */
static void check(pid_t process, const struct state *state, uint64_t steps, const char *what) {
    static struct state found;
    if (!read_memory(process, (uint64_t)(uintptr_t)state, &found, sizeof found)) {
        expect(0, "memory cannot be read", steps);
        return;
    }
    expect(found.steps == steps, what, found.steps);
    for (size_t i = 0; steps && i < BYTES; i += STRIDE)
        if (found.bytes[i] != (unsigned char)(steps * 7 + i / STRIDE)) {
            expect(0, what, i);
            return;
        }
}

static unsigned count_files(pid_t process) {
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    DIR *files = opendir(path);
    for (const struct dirent *file; files && (file = readdir(files));)
        count += file->d_name[0] != '.';
    if (files)
        closedir(files);
    return count;
}

static void copy(pid_t process, pid_t *made) {
    struct arena arena = {0};
    const char *wrong = copy_process(&arena, process, (uint64_t)(uintptr_t)system_call_here, made);
    if (wrong) {
        printf("%s\n", wrong);
        exit(1);
    }
    arena_release(&arena);
}

int main(void) {
    pid_t copies[COPIES], again;
    int status, ends[2];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(ends) != 0)
        return 1;
    pid_t first = fork();
    if (first == 0)
        run_steps();
    if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, first, NULL, (void *)(TRACEE_OPTIONS | PTRACE_O_TRACESYSGOOD)) !=
            0)
        return 1;
    for (int i = 0; i < COPIES; i++) {
        copy(first, &copies[i]);
        go_on(first, STEPS);
    }
    check(first, &own, (uint64_t)COPIES * STEPS, "the first process's steps");
    for (int i = 0; i < COPIES; i++) {
        check(copies[i], &own, (uint64_t)i * STEPS, "a copy's steps");
        check(copies[i], shared, (uint64_t)i * STEPS, "a copy's shared steps");
        expect(count_files(copies[i]) <= 3, "a copy's open files", count_files(copies[i]));
    }
    /* the last one first, each as far as its number */
    for (int i = COPIES; i-- > 0;) {
        go_on(copies[i], i);
        check(copies[i], &own, (uint64_t)i * STEPS + (uint64_t)i, "a copy that went on");
        check(copies[i], shared, (uint64_t)i * STEPS + (uint64_t)i, "its shared steps");
    }
    copy(copies[3], &again);
    go_on(again, 2);
    check(again, &own, 3 * STEPS + 3 + 2, "a copy of a copy");
    check(copies[3], &own, 3 * STEPS + 3, "the copy that was copied");
    expect(shared->steps == (uint64_t)COPIES * STEPS, "the memory that is shared", shared->steps);
    drop_process(&again);
    for (int i = 0; i < COPIES; i++)
        drop_process(&copies[i]);
    expect(again == 0 && copies[0] == 0, "numbers of dropped copies", 0);
    drop_process(&again);
    go_on(first, 1);
    check(first, &own, (uint64_t)COPIES * STEPS + 1, "the first process's steps at the end");
    drop_process(&first);
    expect(waitpid(-1, &status, __WALL | WNOHANG) == -1 && errno == ECHILD, "a process is left", 0);
    return faults != 0;
}
