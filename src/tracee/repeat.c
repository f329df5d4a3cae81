/* repeat.c: a run of one thread, parts of which can be repeated; see repeat.h.
 *
 * requires: countdowns of the runtime (quipu_moment_thread, quipu_moment_near:
 * runtime/moment/moment.c)
 *
 * A signal from outside comes at no fixed instruction. So the first process is taken to the point
 * behind its delivery, and no part that contains the delivery is repeated. A signal that an
 * instruction causes (a fault) occurs again by itself.
 *
 * Not perfect: rdtsc, rdrand and cpuid may give other results when repeated, as may memory that is
 * shared with other processes. */
#include "tracee/repeat.h"

#include "tracee/checkpoint.h"
#include "tracee/tests.h"
#include "util/refusal.h"
#include "x86/kernel.h"
#include "x86/trap.h"

#include <errno.h>
#include <gelf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    RESTART_FIRST = 512, /* not results: the kernel makes the call again */
    RESTART_LAST = 516,
    GO_ON = -1 /* the stop is of no interest: continue */
};

static bool is_first(const struct run *run, const struct repeated *process) {
    return process == &run->first;
}

/* ---- system calls ---- */

static int enter_call(struct run *run, struct repeated *process) {
    uint64_t number = process->call.number;
    process->in_call = true;
    if (is_first(run, process)) {
        bind_before_call(&run->affinity, process->process, number);
        if (!run->site)
            run->site = call_site(process->process);
        return number == SYS_exit_group || number == SYS_exit ? STOP_EXIT : GO_ON;
    }
    if (find_call_row(&process->call)->repeats == QUIPU_CALL_AGAIN)
        return GO_ON;
    if (process->position >= run->log.calls.count ||
        run->log.calls.data[process->position].number != number)
        return STOP_CAUGHT_UP;
    skip_call(process->process);
    return GO_ON;
}

static int leave_first(struct run *run, struct repeated *process) {
    const struct quipu_system_call *row = find_call_row(&process->call);
    int64_t result = process->call.result;
    bind_behind_call(&run->affinity, process->process, process->call.number, result);
    if (result <= -RESTART_FIRST && result >= -RESTART_LAST)
        return GO_ON; /* a signal follows, and nothing in front of it is repeated */
    if (!run->ticks.block)
        return GO_ON; /* no part is repeated before the thread has its cells */
    if (row->repeats == QUIPU_CALL_AGAIN)
        return STOP_CALL;
    if (row->repeats != QUIPU_CALL_GIVEN ||
        !log_call(&run->log, process->process, &process->call, row))
        return STOP_ONCE;
    process->position = run->log.calls.count;
    return STOP_CALL;
}

static int leave_call(struct run *run, struct repeated *process) {
    process->in_call = false;
    set_countdown(&run->ticks, &process->countdown, process->process);
    if (is_first(run, process))
        return leave_first(run, process);
    if (find_call_row(&process->call)->repeats == QUIPU_CALL_AGAIN)
        return STOP_CALL;
    const struct logged_call *call = &run->log.calls.data[process->position++];
    if (!give_call(call, process->process) || !set_call_result(process->process, call->result))
        return STOP_CAUGHT_UP;
    return STOP_CALL;
}

/* ---- other stops ---- */

/* A breakpoint instruction that quipu did not set belongs to the program. */
static int take_breakpoint(struct run *run, struct repeated *process, uint64_t address) {
    process->countdown.at_hook = address == run->near_hook || address == run->thread_hook;
    if (address == run->near_hook) {
        end_countdown(&run->ticks, &process->countdown, process->process);
        return STOP_COUNTDOWN;
    }
    if (address == run->thread_hook) {
        if (!run->ticks.block)
            run->ticks.block = first_argument(process->process);
        return STOP_THREAD;
    }
    if (!has_breakpoint(&run->tracee, address)) {
        process->signal = SIGTRAP;
        return STOP_FAULT;
    }
    run->place = address;
    return STOP_PLACE;
}

static enum stop note_end(struct run *run, const struct repeated *process, int status) {
    run->status = status;
    if (is_first(run, process))
        run->tracee.ended = true;
    return STOP_ENDED;
}

/* Steps to the point behind the delivery of SIGNAL, and of signals that come with it. */
static int deliver(struct run *run, const struct repeated *process, int signal) {
    siginfo_t info;
    int status = 0;
    do {
        if (ptrace(PTRACE_SINGLESTEP, process->process, NULL, (void *)(intptr_t)signal) != 0 ||
            waitpid(process->process, &status, __WALL) != process->process || !WIFSTOPPED(status)) {
            return note_end(run, process, status);
        }
        signal = ptrace(PTRACE_GETSIGINFO, process->process, NULL, &info) ? 0 : WSTOPSIG(status);
    } while (signal != SIGTRAP);
    return STOP_ONCE;
}

/* The process is about to get SIGNAL, which it did not cause itself. */
static int take_signal(struct run *run, struct repeated *process, int signal) {
    if (!is_first(run, process))
        return GO_ON; /* a copy gets no signals from outside */
    if (!run->ticks.block) {
        process->signal = signal;
        return GO_ON;
    }
    return deliver(run, process, signal);
}

static int take_stop(struct run *run, struct repeated *process, const struct thread_stop *stop,
                     bool step) {
    process->written = stop->written;
    process->call = stop->call;
    if (follow_child(&run->tracee, stop))
        return GO_ON;
    switch (stop->reason) {
    case REASON_CALL_ENTRY:
        return enter_call(run, process);
    case REASON_CALL_EXIT:
        return leave_call(run, process);
    case REASON_BREAKPOINT:
        return take_breakpoint(run, process, stop->address);
    case REASON_WRITE:
        return stop->written ? STOP_WRITE : GO_ON;
    case REASON_STEP:
        return step ? STOP_STEP : GO_ON;
    case REASON_FAULT:
        process->signal = stop->signal;
        return STOP_FAULT;
    case REASON_SIGNAL:
        return take_signal(run, process, stop->signal);
    case REASON_CLONE:
        return STOP_CLONE;
    case REASON_EXEC:
        return STOP_PROGRAM;
    default:
        return GO_ON; /* also continues a process that a signal has stopped */
    }
}

/* A single step over a system call makes no stop in front of the call. So there the process
 * continues to that stop. */
static long resume_request(const struct repeated *process) {
    uint8_t code[2] = {0};
    read_memory(process->process, next_instruction(process->process), code, sizeof code);
    return is_system_call(code) ? PTRACE_SYSCALL : PTRACE_SINGLESTEP;
}

enum stop go_on(struct run *run, struct repeated *process, bool step) {
    for (;;) {
        int status = 0;
        long request = step && !process->in_call ? resume_request(process) : (long)PTRACE_SYSCALL;
        int signal = process->signal;
        process->signal = 0;
        if ((ptrace(request, process->process, NULL, (void *)(intptr_t)signal) != 0 &&
             errno != ESRCH) ||
            waitpid(process->process, &status, __WALL) != process->process || !WIFSTOPPED(status)) {
            return note_end(run, process, status);
        }
        struct thread_stop stop = read_stop(process->process, status, &process->call);
        int taken = take_stop(run, process, &stop, step);
        if (taken != GO_ON)
            return (enum stop)taken;
    }
}

/* ---- copies ---- */

const char *make_copy(struct run *run, const struct repeated *from, struct repeated *copy) {
    *copy = *from;
    return copy_process(run->arena, from->process, run->site, &copy->process);
}

void drop_copy(struct repeated *copy) {
    drop_process(&copy->process);
}

/* ---- the begin ---- */

static void put_hooks(struct run *run) {
    put_breakpoint(&run->tracee, run->thread_hook, true);
    put_breakpoint(&run->tracee, run->near_hook, true);
}

enum stop go_until(struct run *run, enum stop wanted) {
    for (;;) {
        enum stop stop = go_on(run, &run->first, false);
        if (stop == wanted || stop == STOP_ENDED || stop == STOP_PROGRAM || stop == STOP_CLONE)
            return stop;
    }
}

enum stop go_to_place(struct run *run, const address_list *places) {
    for (size_t i = 0; i < places->count; i++)
        put_breakpoint(&run->tracee, places->data[i] + run->bias, false);
    enum stop stop = go_until(run, STOP_PLACE);
    if (stop != STOP_PLACE)
        return stop;
    remove_breakpoints(&run->tracee);
    put_hooks(run);
    set_thread_address(run->first.process, run->place);
    return stop;
}

const char *start_run(struct run *run, char **argv) {
    const char *wrong = start_tracee(&run->tracee, argv);
    if (wrong)
        return *wrong ? arena_print(run->arena, "cannot be run under control: %s", wrong) : wrong;
    pid_t process = run->tracee.process;
    run->first.process = process;
    long options = TRACEE_OPTIONS | PTRACE_O_TRACESYSGOOD;
    if (ptrace(PTRACE_SETOPTIONS, process, NULL, (void *)options) != 0 ||
        !hide_kernel_code(process)) {
        int cause = errno;
        kill_tracee(&run->tracee);
        return arena_print(run->arena, "cannot be run under control: %s",
                           refusal(run->arena, "ptrace", 0, cause));
    }
    GElf_Ehdr header;
    gelf_getehdr(run->binary->elf, &header);
    run->bias = program_bias(process, header.e_entry);
    run->thread_hook = find_hook(run->binary, true) + run->bias;
    run->near_hook = find_hook(run->binary, false) + run->bias;
    put_hooks(run);
    run->has_registers = has_debug_registers();
    wrong = put_tests(process, run->binary, run->bias);
    if (wrong)
        kill_tracee(&run->tracee);
    else
        bind_affinity(&run->affinity, process);
    return wrong;
}
