/* record_call.c: the system calls of a recorded thread; see record.h.
 *
 * A call that the kernel makes again, as the signal that has interrupted it was ignored, is one
 * call. */
#include "replay/record.h"

#include "x86/kernel.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static bool is_last(uint64_t number) {
    return number == SYS_exit_group || number == SYS_exit;
}

/* The program gets a filter of its own, which may hide calls from ours. */
static bool adds_filter(const struct system_call *call) {
    bool asks = call->arguments[0] > SECCOMP_SET_MODE_FILTER; /* what the kernel has */
    return (call->number == SYS_seccomp && !asks) ||
           (call->number == SYS_prctl && call->arguments[0] == PR_SET_SECCOMP);
}

static bool is_apart(const struct recorded_thread *thread) {
    return thread->effects.row->repeats == QUIPU_CALL_APART;
}

/* Why the call ends the recording, or NULL. */
static const char *find_limit(struct recorded_thread *thread) {
    if (thread->call.number == SYS_shmat) {
        share_segment(thread);
        return NULL;
    }
    return is_apart(thread) ? refuse_child(thread) : refuse_mapping(thread);
}

/* The kernel has the call, but not what it is asked for. */
static bool is_one_of_many(uint64_t number) {
    return number == SYS_madvise || number == SYS_prctl;
}

/* Returns the error with which a recorded program's call fails, or 0. */
static int find_refusal(const struct recorded_thread *thread) {
    if (thread->effects.row->repeats == QUIPU_CALL_ABSENT)
        return is_one_of_many(thread->call.number) ? EINVAL : ENOSYS;
    if (thread->call.number == SYS_shmat && !thread->maps)
        return ENOSYS;
    return writes_unseen(&thread->process->streams, &thread->call) ? EINVAL : 0;
}

/* A signal that was held back comes in front of the call: the call is left, and made again behind
 * the handler. */
static void turn_back(struct recorded_thread *thread) {
    skip_call(thread->number);
    thread->state = RECORD_TURNED_BACK;
}

/* ---- in front of a call ---- */

static void begin_call(struct recorded_thread *thread) {
    struct system_call *call = &thread->call;
    if (!effects_begin(&thread->effects, thread->number, call)) {
        stop_recording(thread,
                       arena_print(thread->recorder->arena,
                                   "it has too much memory to see what '%s' writes",
                                   call_name(thread->recorder->arena, call->number)),
                       true);
        return;
    }
    const char *program = is_program_call(call->number) ? refuse_program(thread) : NULL;
    const char *limit = program || is_program_call(call->number) ? NULL : find_limit(thread);
    if (program)
        stop_before_program(thread, program);
    else if (limit)
        stop_recording(thread, limit, true);
    if (program || limit)
        return;
    if (is_apart(thread)) /* what is made begins behind the program's instruction */
        inside_return(&thread->process->inside, &thread->process->arena, thread->number);
    thread->first_filter = adds_filter(call) && !thread->process->filters;
    thread->process->filters |= thread->first_filter;
    begin_file_write(thread);
    int path = opened_path(call);
    thread->opened = path < 0 ? "" : read_path(thread, call->arguments[path]);
    thread->refused = find_refusal(thread);
    if (thread->refused)
        skip_call(thread->number);
    else
        begin_instead(thread);
    if (!is_apart(thread)) /* what they make is bound, too */
        bind_before_call(&thread->process->affinity, thread->number, call->number);
    thread->state = RECORD_IN_CALL;
    thread->is_entry = thread->vforks = false;
    thread->stream = stream_of_call(&thread->process->streams, call);
    call->result = 0;
    if (is_last(call->number)) {
        record_call(thread);
        thread->is_entry = true; /* no more comes of it */
    }
}

static bool is_interrupted(const struct system_call *call) {
    return inside_is_restart((uint64_t)call->result) && call->number != SYS_rt_sigreturn;
}

/* The thread is in its call, which was interrupted. */
static void begin_interrupted_call(struct recorded_thread *thread,
                                   const struct user_regs_struct *registers) {
    thread->call_hash = hash_registers(registers, true);
    thread->behind = registers->rip;
    keep_entry(thread, registers);
    effects_begin(&thread->effects, thread->number, &thread->call);
    thread->opened = "";
    thread->refused = thread->stream = 0;
    thread->maps = thread->writes = 0;
    thread->vforks = thread->first_filter = false;
    thread->state = RECORD_INTERRUPTED;
}

/* Behind its call, which it has made inside, and which is not in the recording yet. */
static void end_call_inside(struct recorded_thread *thread) {
    thread->state = RECORD_RUNS;
    record_call_end(thread);
}

bool record_interrupted(struct recorded_thread *thread) {
    struct inside *inside = &thread->process->inside;
    struct user_regs_struct registers;
    uint64_t number = 0;
    if (thread->state != RECORD_RUNS || !inside_is_busy(inside, thread->number))
        return false;
    bool waits = inside_take_waiter(inside, thread->number, &registers, &number);
    if (!waits && !inside_take_call(inside, thread->number, &registers))
        return false;
    record_inside(thread);
    thread->is_entry = waits;
    thread->waits_inside = thread->stands_for_turn = false;
    if (waits)
        registers.orig_rax = number;
    thread->call = (struct system_call){
        .number = registers.orig_rax,
        .arguments = {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8,
                      registers.r9},
        .result = (int64_t)registers.rax,
    };
    begin_interrupted_call(thread, &registers);
    if (!is_interrupted(&thread->call)) {
        end_call_inside(thread);
        return true;
    }
    set_boundary(thread, false);
    thread->at_event = false;
    return true;
}

void record_call_entry(struct recorded_thread *thread) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread->number, &registers))
        return;
    const struct inside *inside = &thread->process->inside;
    thread->was_tried = inside_enter(inside, thread->number, &registers) &&
                        !(inside->left & QUIPU_LEFT_ALL) && waits_inside(&thread->call);
    if (thread->state == RECORD_INTERRUPTED) {
        begin_instead(thread);
        thread->state = RECORD_IN_CALL;
        return;
    }
    thread->call_hash = hash_registers(&registers, true);
    thread->behind = registers.rip;
    keep_entry(thread, &registers);
    if (!thread->process->site)
        thread->process->site = call_site(thread->number);
    if (thread->held)
        turn_back(thread);
    else
        begin_call(thread);
}

/* ---- behind a call ---- */

/* Adds the memory that the call has written. */
static bool record_effects(struct recorded_thread *thread) {
    range_list ranges;
    if (!effects_end(&thread->effects, thread->number, &thread->call, &ranges))
        return false;
    for (size_t i = 0; i < ranges.count; i++)
        add_recorded_memory(thread, ranges.data[i].address, ranges.data[i].bytes,
                            ranges.data[i].size, thread->call.arguments);
    record_reset(thread);
    if (thread->call.result < 0)
        return true;
    if (is_apart(thread))
        record_child_numbers(thread);
    else
        record_mapping(thread);
    record_segment(thread);
    record_file_write(thread);
    return true;
}

static void follow_alternate_stack(struct recorded_thread *thread) {
    stack_t stack;
    if (!thread->call.arguments[0] ||
        !read_memory(thread->number, thread->call.arguments[0], &stack, sizeof stack))
        return;
    thread->stack = (uint64_t)stack.ss_sp;
    thread->stack_end = thread->stack + (stack.ss_flags & SS_DISABLE ? 0 : stack.ss_size);
}

/* What the kernel does for the thread later, and what it keeps of it. */
static void follow_thread(struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    if (call->number == SYS_set_tid_address)
        thread->clear = call->arguments[0];
    thread->yields = call->number == SYS_sched_yield;
    if (call->number == SYS_brk)
        thread->process->data_end = (uint64_t)call->result;
    if (call->number == SYS_sigaltstack && call->result == 0)
        follow_alternate_stack(thread);
}

void record_call_end(struct recorded_thread *thread) {
    struct recorded_process *process = thread->process;
    struct user_regs_struct registers;
    struct system_call *call = &thread->call;
    if (!record_effects(thread)) {
        if (get_general_registers(thread->number, &registers)) /* it was not killed just now */
            stop_recording(thread,
                           arena_print(thread->recorder->arena, "what '%s' wrote cannot be read",
                                       call_name(thread->recorder->arena, call->number)),
                           false);
        return;
    }
    if (thread->first_filter && call->result < 0) /* there is none */
        process->filters = false;
    record_call(thread);
    follow_thread(thread);
    streams_follow(&process->streams, call, thread->opened);
    if (!is_apart(thread))
        bind_behind_call(&process->affinity, thread->number, call->number, call->result);
    set_boundary(thread, false);
}

/* The thread is in front of the first instruction of another program. */
static void begin_program(struct recorded_thread *thread) {
    struct start start;
    const char *wrong = describe_program(thread, &start);
    thread->state = RECORD_RUNS;
    if (wrong)
        stop_recording(thread, wrong, false);
    else
        record_program_start(thread, &start);
}

void record_call_exit(struct recorded_thread *thread) {
    struct system_call *call = &thread->call;
    if (thread->recorder->writing == thread)
        end_writing(thread->recorder);
    if (thread->state == RECORD_EXECUTES) {
        begin_program(thread);
        return;
    }
    if (thread->state == RECORD_TURNED_BACK) {
        repeat_call(thread->number, call->number);
        thread->state = RECORD_RUNS;
        release_held(thread);
        set_boundary(thread, true);
        return;
    }
    end_instead(thread);
    if (thread->refused) {
        call->result = -thread->refused;
        set_call_result(thread->number, call->result);
    }
    if (is_interrupted(call)) {
        thread->state = RECORD_INTERRUPTED;
        set_boundary(thread, false);
        thread->at_event = false;
    } else {
        thread->state = RECORD_RUNS;
        hide_inside(thread);
        record_call_end(thread);
        record_inside_call(thread);
    }
}
