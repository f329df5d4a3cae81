/* still_loop.c: loops that change nothing; see still_loop.h.
 *
 * Not perfect: a loop with more than STEPS_MAX instructions is not found. */
#include "tracee/still_loop.h"

#include "tracee/memory_copy.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "util/process.h"
#include "x86/call_stop.h"
#include "x86/kernel.h"
#include "x86/registers.h"
#include "x86/step.h"

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum {
    STEPS_MAX = 300
};

/* Waits for the next stop of THREAD, or its end. Sets STATUS to 0, and returns false, if neither
 * comes: it has been killed, and is the first of its process, so its end is told behind those of
 * others. */
static bool await_status(pid_t thread, int *status) {
    static const unsigned looks_of_end = 20;
    for (unsigned looks = 1;; looks++) {
        *status = 0;
        pid_t stopped = waitpid(thread, status, __WALL | WNOHANG);
        if (stopped)
            return stopped == thread;
        if (looks % looks_of_end == 0 && has_ended(thread, thread))
            return false;
        sched_yield();
    }
}

/* Executes one instruction, which is no system call. */
static enum loop_state step_once(pid_t thread, int *status) {
    struct single_step step = begin_step(thread);
    if (!step.is_step)
        return LOOP_NONE;
    if (ptrace(PTRACE_SINGLESTEP, thread, NULL, NULL) != 0 || !await_status(thread, status) ||
        *status != STEPPED)
        return LOOP_STOPPED;
    finish_step(thread, &step);
    return LOOP_FOUND;
}

/* Whether the registers are the wanted ones: EXACT, or those that have HASH. */
static bool is_wanted(const struct user_regs_struct *registers,
                      const struct user_regs_struct *exact, uint32_t hash) {
    return exact ? has_same_registers(registers, exact) : hash_registers(registers, false) == hash;
}

/* Steps until the wanted registers are there at ADDRESS. */
static enum loop_state step_to(pid_t thread, uint64_t address, const struct user_regs_struct *exact,
                               uint32_t hash, int *status) {
    struct user_regs_struct registers;
    for (int i = 0; i < STEPS_MAX; i++) {
        enum loop_state state = step_once(thread, status);
        if (state != LOOP_FOUND)
            return state;
        if (next_instruction(thread) == address && get_general_registers(thread, &registers) &&
            is_wanted(&registers, exact, hash))
            return LOOP_FOUND;
    }
    return LOOP_NONE;
}

static enum loop_state go_to(pid_t thread, uint64_t address, const struct user_regs_struct *exact,
                             uint32_t hash, int *status) {
    enum loop_state state = step_to(thread, address, exact, hash, status);
    end_steps(thread);
    return state;
}

enum loop_state go_in_loop(pid_t thread, uint64_t address, uint32_t hash, int *status) {
    return go_to(thread, address, NULL, hash, status);
}

static bool is_unchanged(pid_t thread, struct arena *arena, const range_list *copy) {
    range_list changed = {0};
    return find_changed_memory(arena, thread, copy, &changed) && !changed.count;
}

/* Sets HASH to that of the vector registers. */
static bool get_vectors(pid_t thread, uint64_t *hash) {
    static struct registers registers;
    bool good = get_registers(thread, &registers);
    *hash = good ? hash_vectors(&registers) : 0;
    return good;
}

enum loop_state find_still_loop(pid_t thread, int *status) {
    struct user_regs_struct registers;
    uint64_t vectors, now;
    struct arena arena = {0};
    range_list copy = {0};
    if (!get_general_registers(thread, &registers))
        return LOOP_NONE;
    /* their hash would not do: it leaves out bits of %r11 in which a call has left flags */
    enum loop_state state = go_to(thread, registers.rip, &registers, 0, status);
    if (state != LOOP_FOUND)
        return state;
    if (!get_vectors(thread, &vectors) || !copy_writable_memory(&arena, thread, &copy))
        state = LOOP_NONE;
    else
        state = go_to(thread, registers.rip, &registers, 0, status);
    if (state == LOOP_FOUND &&
        (!get_vectors(thread, &now) || now != vectors || !is_unchanged(thread, &arena, &copy)))
        state = LOOP_NONE;
    arena_release(&arena);
    return state;
}
