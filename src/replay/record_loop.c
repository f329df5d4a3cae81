/* record_loop.c: recorded threads that make no system calls, while others wait for their turn, or a
 * signal for its place; see record.h.
 *
 * Where the thread waits for others in a loop that changes nothing, that is a place which a replay
 * finds (tracee/still_loop.h). Otherwise it is stopped in its code: record_place.c. There its turn
 * ends, and a signal that was held back comes in. */
#include "replay/record.h"

#include "tracee/still_loop.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_loop(struct recorded_thread *thread) {
    struct user_regs_struct registers = {0};
    struct buffer *event = recording_event(&thread->recorder->writer);
    get_general_registers(thread->number, &registers);
    put_number(event, registers.rip, sizeof(uint64_t));
    put_number(event, hash_registers(&registers, false), sizeof(uint32_t));
    add_recorded_event(thread, QUIPU_EVENT_LOOP);
}

static void keep_status(struct recorded_thread *thread, int status) {
    if (status) /* otherwise it has been killed */
        take_status(thread, status);
}

bool stop_executing(struct recorded_thread *thread) {
    int status = 0;
    if (syscall(SYS_tgkill, thread->process->number, thread->number, SIGSTOP) != 0 ||
        !await_status(thread, &status))
        return false;
    if (status == STOPPED)
        return true;
    if (is_entry_stop(thread->number, status))
        thread->tick_asked = true; /* the stop that was asked must not end the call */
    else
        thread->stop_asked = true;
    keep_status(thread, status);
    return false;
}

/* The thread is stopped. If it makes a call inside, it comes to the end of that; what it has made
 * there is recorded first. Returns whether it stands in its program's code. */
static bool leave_inside(struct recorded_thread *thread) {
    const struct inside *inside = &thread->process->inside;
    if (record_interrupted(thread)) {
        thread->stands = true;
        make_fresh(thread->recorder, thread->process->group);
        return false;
    }
    int status = inside_run_out(inside, thread->number, 0);
    if (!status)
        status = inside_step_out(inside, thread->number);
    if (!status)
        record_inside(thread);
    keep_status(thread, status);
    return !status;
}

/* The thread gives its turn to others behind its last event. */
static void stand(struct recorded_thread *thread) {
    set_boundary(thread, false);
    thread->stands = thread->yields = true;
    release_held(thread);
    make_fresh(thread->recorder, thread->process->group);
}

bool record_loop(struct recorded_thread *thread) {
    int status = 0;
    if (!stop_executing(thread))
        return false;
    end_tick(thread);
    if (!leave_inside(thread))
        return false;
    enum loop_state state = find_still_loop(thread->number, &status);
    if (state == LOOP_STOPPED) {
        keep_status(thread, status);
        return false;
    }
    if (state == LOOP_FOUND)
        add_loop(thread);
    bool stands = state == LOOP_FOUND || record_place(thread);
    if (stands)
        stand(thread);
    else if (thread->is_pending)
        make_fresh(thread->recorder, thread->process->group);
    else
        continue_thread(thread, 0);
    return stands;
}
