/* diversion.c: a copy of the process that goes its own way; see diversion.h. */
#include "debug/diversion.h"

#include "debug/program.h"

#include "replay/streams.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "x86/call_stop.h"
#include "x86/kernel.h"
#include "x86/trap.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
    GO_ON = -1,
    WAIT_NANOSECONDS = 50000000
};

bool begin_diversion(struct diversion *diversion, struct timeline *timeline) {
    struct stand copy;
    if (!diversion->active) {
        if (!copy_here(timeline, &copy)) {
            drop_stand(&copy);
            return false;
        }
        take_here(timeline, &diversion->real);
        timeline->pinned = diversion->real.place.base;
        go_to_stand(timeline, &copy);
    }
    diversion->active = true;
    return true;
}

bool end_diversion(struct diversion *diversion, struct timeline *timeline) {
    bool lost = diversion->active && diversion->changed;
    if (diversion->active) {
        take_points_out(timeline);
        go_to_stand(timeline, &diversion->real);
        timeline->pinned = NULL;
    }
    diversion->active = diversion->changed = false;
    diversion->thread = diversion->beside = 0;
    return lost;
}

pid_t divert_thread(struct diversion *diversion, const struct timeline *timeline, pid_t recorded) {
    pid_t number = own_number(timeline, recorded);
    if (number && recorded != diversion->thread) {
        if (!get_general_registers(number, &diversion->registers))
            return 0;
        diversion->thread = recorded;
    }
    return number;
}

bool is_elsewhere(const struct diversion *diversion, const struct timeline *timeline) {
    struct user_regs_struct here;
    pid_t number =
        diversion->active && diversion->thread ? own_number(timeline, diversion->thread) : 0;
    return number && get_general_registers(number, &here) &&
           !has_same_registers(&here, &diversion->registers);
}

/* ---- system calls ---- */

/* Whether the call changes nothing but the memory of the process. */
static bool is_harmless(const struct system_call *call) {
    switch (call->number) {
    case SYS_brk:
    case SYS_munmap:
    case SYS_mprotect:
        return true;
    case SYS_mmap:
        return (call->arguments[3] & (MAP_ANONYMOUS | MAP_SHARED)) == MAP_ANONYMOUS;
    default:
        return false;
    }
}

/* Continues to the next stop at a call. */
static bool next_call_stop(pid_t process) {
    int status;
    return ptrace(PTRACE_SYSCALL, process, NULL, NULL) == 0 &&
           waitpid(process, &status, __WALL) == process && WIFSTOPPED(status);
}

/* The process is in front of the call, and leaves it; then it comes to it again, and makes it. */
static void make_call(pid_t process) {
    if (enter_call_again(process) && next_call_stop(process) && next_call_stop(process))
        next_call_stop(process);
}

static void take_call(struct timeline *timeline, pid_t process, struct system_call call) {
    struct buffer bytes = {0};
    struct streams streams = streams_begin();
    if (is_harmless(&call)) {
        make_call(process);
        return;
    }
    call.result = (int64_t)call.arguments[2]; /* of a write */
    int stream = call.number == SYS_write ? stream_of_call(&streams, &call) : 0;
    if (stream && read_written(process, &call, &bytes)) {
        if (timeline->divert_output)
            timeline->divert_output(timeline->context, bytes.data, bytes.count);
    } else {
        call.result = -ENOSYS;
    }
    buffer_release(&bytes);
    answer_call(process, call.result);
}

/* ---- going on ---- */

/* Waits for a stop. Asks for one if the user wants it. */
static pid_t wait_for_stop(struct timeline *timeline, pid_t process, int *status) {
    const struct timespec time = {.tv_nsec = WAIT_NANOSECONDS};
    sigset_t awaited;
    pid_t stopped;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    while ((stopped = waitpid(process, status, __WALL | WNOHANG)) == 0)
        if (sigtimedwait(&awaited, NULL, &time) < 0 && timeline->is_interrupted &&
            timeline->is_interrupted(timeline->context))
            kill(process, SIGSTOP);
    return stopped;
}

static int take_stop(struct timeline *timeline, pid_t process, int status, bool step, int *signal) {
    struct thread_stop stop = read_stop(process, status, NULL);
    *signal = stop.signal;
    switch (stop.reason) {
    case REASON_CALL_ENTRY:
        take_call(timeline, process, stop.call);
        return GO_ON;
    case REASON_BREAKPOINT:
        if (!points_inserted(&timeline->points, stop.address))
            return HALT_SIGNAL;
        set_thread_address(process, stop.address);
        return HALT_POINT;
    case REASON_STEP:
        return step ? HALT_STEP : GO_ON;
    case REASON_FAULT:
        return HALT_SIGNAL;
    case REASON_SIGNAL:
        return stop.signal == SIGSTOP ? HALT_INTERRUPT : GO_ON;
    case REASON_ENDED:
        return HALT_END;
    default:
        return GO_ON;
    }
}

/* Continues the process once. */
static int go_once(struct timeline *timeline, pid_t process, bool step, int *signal) {
    int status;
    ptrace(step ? PTRACE_SYSEMU_SINGLESTEP : PTRACE_SYSEMU, process, NULL, NULL);
    if (wait_for_stop(timeline, process, &status) != process)
        return HALT_END;
    return take_stop(timeline, process, status, step, signal);
}

/* While a client calls a function in one thread, it first steps another one, which stands at a
 * breakpoint, over that. As this one has no part in the call, it is put back when that goes on. */
static pid_t choose_thread(struct diversion *diversion, const struct timeline *timeline,
                           bool step) {
    pid_t former = diversion->beside ? own_number(timeline, diversion->beside) : 0;
    pid_t number = step ? own_number(timeline, timeline->stepper) : 0;
    if (former)
        set_general_registers(former, &diversion->beside_registers);
    diversion->beside = 0;
    if (!number || timeline->stepper == diversion->thread ||
        !get_general_registers(number, &diversion->beside_registers))
        return own_number(timeline, diversion->thread);
    diversion->beside = timeline->stepper;
    return number;
}

/* Continues it to a stop. */
static int run_to_stop(struct timeline *timeline, pid_t process, int *signal) {
    int kind;
    do {
        points_insert(&timeline->points, process, 0);
        do
            kind = go_once(timeline, process, false, signal);
        while (kind == GO_ON);
        points_take_out(&timeline->points, process);
        if (kind != HALT_POINT || points_hit(&timeline->points, next_instruction(process), process))
            return kind;
        kind = go_once(timeline, process, true, signal); /* no condition holds */
    } while (kind == GO_ON || kind == HALT_STEP);
    return kind;
}

struct halt run_diversion(struct diversion *diversion, struct timeline *timeline, bool step,
                          int *signal) {
    pid_t process = choose_thread(diversion, timeline, step);
    const struct point *point = points_find(&timeline->points, next_instruction(process));
    int kind = GO_ON;
    diversion->changed = false;
    if (step || point)
        kind = go_once(timeline, process, true, signal);
    if (!step && (kind == GO_ON || kind == HALT_STEP))
        kind = run_to_stop(timeline, process, signal);
    struct halt halt = {.kind = kind == GO_ON ? HALT_STEP : (enum halt_kind)kind};
    if (halt.kind == HALT_POINT)
        halt.point = points_hit(&timeline->points, next_instruction(process), process);
    return halt;
}
