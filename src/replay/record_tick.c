/* record_tick.c: stops a recorded thread at a tick; see record.h.
 *
 * Mellor-Crummey and LeBlanc 1989, section 3: a signal that comes in anywhere is held back up to a
 * place which a replay can find. That is the next system call, or in a program with ticks the next
 * tick. A turn ends there, too, if others wait and the thread makes no call. With random turns it
 * ends some instructions behind the tick, so between any two instructions. */
#include "replay/record.h"

#include "x86/kernel.h"
#include "x86/step.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void begin_tick(struct recorded_thread *thread, uint64_t ticks) {
    struct process_ticks *process = &thread->process->ticks;
    if (ticks_arm(process, thread->number))
        tick_stop_begin(process->code, &thread->tick, thread->number, ticks);
}

void end_tick(struct recorded_thread *thread) {
    if (thread->tick.block)
        tick_stop_end(thread->process->ticks.code, &thread->tick, thread->number);
}

bool record_step(struct recorded_thread *thread) {
    int status;
    struct single_step step = begin_step(thread->number);
    if (!step.is_step || ptrace(PTRACE_SINGLESTEP, thread->number, NULL, NULL) != 0 ||
        !await_status(thread, &status))
        return false;
    end_steps(thread->number);
    if (status == STEPPED) {
        finish_step(thread->number, &step);
        return true;
    }
    keep_pending(thread, status); /* a fault, a signal, or its end */
    return false;
}

/* Executes COUNT further instructions, or fewer. */
static void record_steps(struct recorded_thread *thread, unsigned count) {
    struct user_regs_struct registers;
    uint64_t steps = 0;
    while (steps < count && record_step(thread))
        steps++;
    bool ends = thread->is_pending && (!WIFSTOPPED(thread->pending) || thread->pending >> 16);
    if (!steps || ends || !get_general_registers(thread->number, &registers))
        return;
    struct buffer *event = recording_event(&thread->recorder->writer);
    buffer_uleb128(event, steps);
    put_number(event, registers.rip, sizeof registers.rip);
    put_number(event, hash_registers(&registers, false), sizeof(uint32_t));
    add_recorded_event(thread, QUIPU_EVENT_STEPS);
    set_boundary(thread, false);
}

bool record_tick(struct recorded_thread *thread) {
    struct process_ticks *ticks = &thread->process->ticks;
    struct user_regs_struct registers;
    struct tick_place place;
    bool wanted = thread->tick.block;
    if (!ticks->armed || !ticks_has_code(ticks, thread->number) ||
        !tick_stop_reached(ticks->code, &thread->tick, thread->number, &place))
        return false;
    if (!wanted || !get_general_registers(thread->number, &registers))
        return true;
    tick_settle(ticks->code, thread->number);
    struct buffer *event = recording_event(&thread->recorder->writer);
    put_number(event, place.count, sizeof place.count);
    put_number(event, place.address, sizeof place.address);
    put_number(event, hash_registers(&registers, false), sizeof(uint32_t));
    add_recorded_event(thread, QUIPU_EVENT_TICK);
    set_boundary(thread, false);
    if (thread->recorder->shuffle.on)
        record_steps(thread, shuffle_steps(thread->recorder));
    release_held(thread);
    thread->yields = true;
    return true;
}

void ask_for_tick(struct recorded_thread *thread) {
    if (thread->tick_asked || thread->tick.block ||
        !ticks_has_code(&thread->process->ticks, thread->number))
        return;
    ask_to_stop(thread);
}

void ask_to_stop(struct recorded_thread *thread) {
    if (!thread->tick_asked)
        thread->tick_asked =
            syscall(SYS_tgkill, thread->process->number, thread->number, SIGSTOP) == 0;
}

bool take_asked_stop(struct recorded_thread *thread, const struct thread_stop *stop) {
    if (!thread->tick_asked)
        return false;
    if (stop->reason == REASON_SIGNAL && stop->signal == SIGSTOP) {
        thread->tick_asked = false;
        if (!record_interrupted(thread))
            begin_tick(thread, 1);
        return true;
    }
    if (stop->reason != REASON_CALL_ENTRY || thread->state != RECORD_RUNS)
        return false;
    thread->call = stop->call; /* the signal would end some calls: it comes in front of this one */
    leave_call(thread);
    return true;
}
