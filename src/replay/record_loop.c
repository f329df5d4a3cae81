/* record_loop.c: recorded threads that wait for others in a loop without system calls; see
 * record.h.
 *
 * Where the loop changes nothing, it is a place that a replay finds (tracee/still_loop.h). So the
 * thread's turn ends there, and a signal that was held back comes in there. */
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

bool record_loop(struct recorded_thread *thread) {
    int status = 0;
    if (syscall(SYS_tgkill, thread->process->number, thread->number, SIGSTOP) != 0 ||
        !await_status(thread, &status))
        return false;
    bool by_us = status == STOPPED;
    end_tick(thread);
    enum loop_state state = by_us ? find_still_loop(thread->number, &status) : LOOP_STOPPED;
    switch (state) {
    case LOOP_FOUND:
        record_inside(thread); /* the calls that it has made in front of the loop */
        add_loop(thread);
        set_boundary(thread, false);
        thread->stands = thread->yields = true;
        release_held(thread);
        break;
    case LOOP_NONE:
        continue_thread(thread, 0);
        return false;
    case LOOP_STOPPED:
        if (!status) /* it has been killed */
            return false;
        thread->stop_asked = !by_us;
        thread->pending = status;
        thread->is_pending = true;
        break;
    }
    make_fresh(thread->recorder, thread->process->group);
    return state == LOOP_FOUND;
}
