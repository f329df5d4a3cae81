/* record_call.c: the system calls of a recorded process; see record.h.
 *
 * A call that the kernel makes again, as the signal that has interrupted it was ignored, is one
 * call. */
#include "replay/record.h"

#include "x86/kernel.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static bool is_last(uint64_t number) {
    return number == SYS_exit_group || number == SYS_exit;
}

/* Returns the text at ADDRESS of the process, "" if there is none. */
static const char *read_path(struct recorder *recorder, uint64_t address) {
    char text[PATH_MAX] = "";
    struct iovec here = {text, sizeof text - 1}, there = {(void *)address, sizeof text - 1};
    if (process_vm_readv(recorder->process, &here, 1, &there, 1, 0) <= 0) {
        here.iov_len = there.iov_len = 4096 - address % 4096; /* up to the end of its page */
        if (here.iov_len >= sizeof text ||
            process_vm_readv(recorder->process, &here, 1, &there, 1, 0) <= 0)
            return "";
    }
    return arena_copy(&recorder->effects.arena, text, strlen(text));
}

/* Why the call ends the recording, or NULL. */
static const char *find_limit(struct recorder *recorder) {
    if (recorder->effects.row->repeats == QUIPU_CALL_APART)
        return arena_print(recorder->arena,
                           "it makes a thread or a process or executes another program ('%s')",
                           call_name(recorder->arena, recorder->call.number));
    return refuse_mapping(recorder);
}

/* Returns the error with which a recorded program's call fails, or 0. */
static int find_refusal(const struct recorder *recorder) {
    if (recorder->effects.row->repeats == QUIPU_CALL_ABSENT)
        return recorder->call.number == SYS_madvise ? EINVAL : ENOSYS;
    return writes_unseen(&recorder->streams, &recorder->call) ? EINVAL : 0;
}

/* A signal that was held back comes in front of the call: the call is left, and made again behind
 * the handler. */
static void turn_back(struct recorder *recorder) {
    skip_call(recorder->process);
    recorder->state = RECORD_TURNED_BACK;
}

/* Adds the event of the call, which has its result. */
static void record_call(struct recorder *recorder) {
    struct buffer *event = recording_event(&recorder->writer);
    buffer_uleb128(event, recorder->call.number);
    put_number(event, recorder->call_hash ^ hash_written(recorder->process, &recorder->call),
               sizeof recorder->call_hash);
    put_signed(event, recorder->call.result);
    recording_add(&recorder->writer, QUIPU_EVENT_CALL, RECORDED_THREAD);
    recorder->calls++;
}

static void begin_call(struct recorder *recorder) {
    struct system_call *call = &recorder->call;
    if (!effects_begin(&recorder->effects, recorder->process, call)) {
        stop_recording(recorder,
                       arena_print(recorder->arena,
                                   "it has too much memory to see what '%s' writes",
                                   call_name(recorder->arena, call->number)),
                       true);
        return;
    }
    const char *limit = find_limit(recorder);
    if (limit) {
        stop_recording(recorder, limit, true);
        return;
    }
    int path = opened_path(call);
    recorder->opened = path < 0 ? "" : read_path(recorder, call->arguments[path]);
    recorder->refused = find_refusal(recorder);
    if (recorder->refused)
        skip_call(recorder->process);
    bind_before_call(&recorder->affinity, recorder->process, call->number);
    recorder->state = RECORD_IN_CALL;
    call->result = 0;
    if (is_last(call->number))
        record_call(recorder);
}

void record_call_entry(struct recorder *recorder) {
    struct user_regs_struct registers;
    if (recorder->state == RECORD_INTERRUPTED) {
        recorder->state = RECORD_IN_CALL;
        return;
    }
    if (!get_general_registers(recorder->process, &registers))
        return;
    recorder->call_hash = hash_registers(&registers, true);
    if (!recorder->site)
        recorder->site = call_site(recorder->process);
    if (recorder->held)
        turn_back(recorder);
    else
        begin_call(recorder);
}

/* Adds the memory that the call has written. */
static bool record_effects(struct recorder *recorder) {
    range_list ranges;
    if (!effects_end(&recorder->effects, recorder->process, &recorder->call, &ranges))
        return false;
    for (size_t i = 0; i < ranges.count; i++)
        recording_add_memory(&recorder->writer, RECORDED_THREAD, ranges.data[i].address,
                             ranges.data[i].bytes, ranges.data[i].size, recorder->call.arguments);
    if (recorder->call.result >= 0)
        record_mapping(recorder);
    return true;
}

void record_call_end(struct recorder *recorder) {
    struct system_call *call = &recorder->call;
    if (!record_effects(recorder)) {
        stop_recording(recorder,
                       arena_print(recorder->arena, "what '%s' wrote cannot be read",
                                   call_name(recorder->arena, call->number)),
                       false);
        return;
    }
    record_call(recorder);
    streams_follow(&recorder->streams, call, recorder->opened);
    bind_behind_call(&recorder->affinity, recorder->process, call->number, call->result);
}

void record_call_exit(struct recorder *recorder) {
    struct system_call *call = &recorder->call;
    if (recorder->state == RECORD_TURNED_BACK) {
        repeat_call(recorder->process, call->number);
        recorder->state = RECORD_RUNS;
        release_held(recorder);
        set_boundary(recorder, true);
        return;
    }
    if (recorder->refused) {
        call->result = -recorder->refused;
        set_call_result(recorder->process, call->result);
    }
    bool interrupted = call->result <= -RESTART_FIRST && call->result >= -RESTART_LAST &&
                       call->number != SYS_rt_sigreturn;
    recorder->state = interrupted ? RECORD_INTERRUPTED : RECORD_RUNS;
    if (!interrupted)
        record_call_end(recorder);
    if (recorder->state != RECORD_LEFT)
        set_boundary(recorder, false);
}
