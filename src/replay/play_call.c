/* play_call.c: the system calls of a process that repeats a recorded run; see play.h.
 *
 * A call is not made, but gets its recorded result and memory. Calls that change the process's own
 * memory map are made, at the recorded addresses; a mapped file is replaced by private memory with
 * the recorded contents. A recording may be hostile: no call is made that reaches beyond the
 * process. */
#include "replay/play.h"

#include "replay/streams.h"
#include "tracee/call_effects.h"
#include "util/buffer.h"
#include "x86/call_stop.h"
#include "x86/kernel.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE  103
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
    CALL_ERROR_MAX = 4095
};

/* brk returns the end that the data have then. */
static bool failed(const struct system_call *call) {
    if (call->number == SYS_brk)
        return call->arguments[0] && (uint64_t)call->result != call->arguments[0];
    return call->result < 0 && call->result >= -CALL_ERROR_MAX;
}

/* Its result is what %rax was where the handler came in. */
static bool returns_from_handler(const struct system_call *call) {
    return call->number == SYS_rt_sigreturn;
}

/* It has changed what is in front of a gap in its range, and fails there again. */
static bool changes_a_part(const struct system_call *call) {
    return call->number == SYS_mprotect && call->result == -ENOMEM;
}

/* It sets the limit up to which the process's own stack grows. */
static bool limits_stack(const struct system_call *call) {
    const uint64_t *arguments = call->arguments;
    return (call->number == SYS_setrlimit && arguments[0] == RLIMIT_STACK) ||
           (call->number == SYS_prlimit64 && arguments[0] == 0 && arguments[1] == RLIMIT_STACK &&
            arguments[2]);
}

/* Whether the call is made: it changes the process alone. Actions and masks of signals have no
 * effect in a replay, which delivers none; only a debugger's calls of functions may need them. */
bool is_made_again(const struct player *player, const struct system_call *call) {
    static const uint16_t advices[] = {
        MADV_NORMAL,          MADV_RANDOM,     MADV_SEQUENTIAL,    MADV_WILLNEED,    MADV_DONTNEED,
        MADV_DONTNEED_LOCKED, MADV_HUGEPAGE,   MADV_NOHUGEPAGE,    MADV_DONTFORK,    MADV_DOFORK,
        MADV_WIPEONFORK,      MADV_KEEPONFORK, MADV_GUARD_INSTALL, MADV_GUARD_REMOVE};
    uint8_t repeats = find_call_row(call)->repeats;
    bool of_signals = call->number == SYS_rt_sigaction || call->number == SYS_rt_sigprocmask;
    if ((failed(call) && !returns_from_handler(call) && !changes_a_part(call)) ||
        (of_signals && player->hooks->gives_inside))
        return false;
    if (limits_stack(call))
        return true;
    if (call->number != SYS_madvise)
        return repeats == QUIPU_CALL_AGAIN || repeats == QUIPU_CALL_MAPS;
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (call->arguments[2] == advices[i])
            return repeats == QUIPU_CALL_AGAIN;
    return false;
}

/* The call maps memory, private or what processes share, at the recorded address. */
static void replace_mapping(struct player *player, const struct system_call *call,
                            struct system_call *made) {
    uint64_t flags = call->arguments[3];
    uint64_t kept = flags & (MAP_GROWSDOWN | MAP_NORESERVE | MAP_STACK | MAP_FIXED);
    uint64_t placed = flags & MAP_FIXED ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    bool shared = flags & MAP_ANONYMOUS && flags & MAP_SHARED;
    const struct memory_event *mapping = find_shared_mapping(player);
    made->arguments[0] = (uint64_t)call->result;
    if (mapping) {
        made->arguments[3] = kept | placed | MAP_SHARED;
        made->arguments[4] = (uint64_t)player->shared;
        made->arguments[5] = shared_place(mapping);
        return;
    }
    uint64_t place;
    if (place_data(player, call, &place)) {
        made->arguments[3] = kept | placed | MAP_SHARED;
        made->arguments[4] = (uint64_t)player->shared;
        made->arguments[5] = place;
        return;
    }
    if (place_mapped(player, call, &place)) {
        made->arguments[3] = kept | placed | MAP_PRIVATE;
        made->arguments[4] = (uint64_t)player->mapped_file;
        made->arguments[5] = place;
        return;
    }
    made->arguments[3] = kept | placed | MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE);
    made->arguments[4] = UINT64_MAX;
    made->arguments[5] = 0;
}

/* A segment of shared memory is mapped as a file is. */
static bool replace_segment(struct player *player, const struct system_call *call,
                            struct system_call *made) {
    uint64_t flags = call->arguments[2];
    uint64_t protection = PROT_READ | (flags & SHM_RDONLY ? 0u : PROT_WRITE) |
                          (flags & SHM_EXEC ? (unsigned)PROT_EXEC : 0u);
    const struct memory_event *mapping = find_shared_mapping(player);
    if (!mapping)
        return false;
    if (call->number == SYS_shmdt)
        *made = (struct system_call){.number = SYS_munmap,
                                     .arguments = {mapping->address, mapping->size}};
    else
        *made = (struct system_call){
            .number = SYS_mmap,
            .arguments = {mapping->address, mapping->size, protection,
                          MAP_SHARED | (flags & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE),
                          (uint64_t)player->shared, shared_place(mapping)}};
    return true;
}

/* Sets MADE to the call that a replay makes in place of CALL. Returns false if the recording does
 * not tell what that is. */
static bool replace_memory_call(struct player *player, const struct system_call *call,
                                struct system_call *made) {
    *made = *call;
    if (call->number == SYS_mmap)
        replace_mapping(player, call, made);
    return (call->number != SYS_shmat && call->number != SYS_shmdt) ||
           replace_segment(player, call, made);
}

bool will_make_call(const struct player *player) {
    static const uint16_t numbers[] = {SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect};
    struct event copy = player->event;
    struct call_event call;
    if (!player->hooks->gives_inside || !player->has_event || copy.kind != QUIPU_EVENT_CALL ||
        !read_call_event(&copy, &call))
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == call.number)
            return true;
    return false;
}

/* Continues to the next stop of the call that is made. Returns false if there is none. */
static bool next_stop(struct player *player, enum stop_reason reason, struct thread_stop *stop) {
    int status = 0;
    do {
        if (ptrace(PTRACE_SYSCALL, player->process, NULL, NULL) != 0 ||
            waitpid(player->process, &status, __WALL) != player->process || !WIFSTOPPED(status))
            return false;
        *stop = read_stop(player->process, status, NULL);
    } while (stop->reason != reason &&
             (stop->reason == REASON_CALL_EXIT || stop->reason == REASON_SIGNAL));
    return stop->reason == reason;
}

/* Makes CALL, in front of which the process is stopped, with the arguments that a replay has. */
static void make_call(struct player *player, const struct system_call *call) {
    struct system_call made;
    struct thread_stop stop;
    if (!replace_memory_call(player, call, &made)) {
        end_by_corruption(player);
        return;
    }
    player->in_call = false; /* behind it */
    player->has_mapped = true;
    bool changed = memcmp(&made, call, sizeof made) != 0;
    bool enters = player->is_entered || (enter_call_again(player->process) &&
                                         next_stop(player, REASON_CALL_ENTRY, &stop));
    if (!enters || (changed && !replace_call(player->process, made.number, made.arguments)) ||
        !next_stop(player, REASON_CALL_EXIT, &stop) ||
        (changed && !set_call_arguments(player->process, call->arguments)))
        end_by_difference(player, "ends within a system call");
    else if (changes_a_part(call) || limits_stack(call)) /* a replay may have other limits */
        set_call_result(player->process, call->result);
    else if (stop.call.result != call->result && !returns_from_handler(call))
        end_by_difference(player, arena_print(player->arena, "gets %lld from '%s' and not %lld",
                                              (long long)stop.call.result,
                                              call_name(player->arena, call->number),
                                              (long long)call->result));
}

/* ---- output ---- */

static void write_output(struct player *player, const struct system_call *call, int stream) {
    struct buffer bytes = {0};
    if (!stream || !player->has_come || is_other(player, player->thread->process))
        return;
    if (!read_written(player->process, call, &bytes))
        end_by_difference(player, "writes what is not in its memory");
    else
        player->hooks->write_output(player->hooks->context, stream, bytes.data, bytes.count);
    buffer_release(&bytes);
}

/* ---- the call ---- */

/* Follows which alternate stack the process has. */
static void note_alternate_stack(struct player *player, const struct system_call *call) {
    stack_t stack;
    if (call->number != SYS_sigaltstack || call->result != 0 || !call->arguments[0] ||
        !read_memory(player->process, call->arguments[0], &stack, sizeof stack))
        return;
    player->thread->stacks.start = stack.ss_flags & SS_DISABLE ? 0 : (uint64_t)stack.ss_sp;
    player->thread->stacks.end =
        stack.ss_flags & SS_DISABLE ? 0 : (uint64_t)stack.ss_sp + stack.ss_size;
}

/* A thread that has chosen its processors executes on the same ones, as far as they are there:
 * what cpuid tells depends on that, and libraries ask it on each processor in turn. */
static void follow_affinity(const struct player *player, const struct system_call *call) {
    const uint64_t *arguments = call->arguments;
    cpu_set_t processors;
    bool is_own = arguments[0] == 0 || (int32_t)arguments[0] == (int32_t)player->thread->recorded;
    size_t size = arguments[1] < sizeof processors ? arguments[1] : sizeof processors;
    CPU_ZERO(&processors);
    if (call->number == SYS_sched_setaffinity && call->result == 0 && is_own &&
        read_memory(player->process, arguments[2], &processors, size))
        sched_setaffinity(player->process, sizeof processors, &processors);
}

static void give_call_event(struct player *player, const struct system_call *call, int stream) {
    write_output(player, call, stream);
    keep_data(player, call);
    if (player->ended)
        return;
    if (is_made_again(player, call))
        make_call(player, call);
    else if (!answer_call(player->process, call->result))
        end_by_difference(player, "is gone");
    if (player->ended || !write_event_memory(player, call->arguments))
        return;
    note_alternate_stack(player, call);
    follow_affinity(player, call);
    end_shared_inside(player, call);
    player->playing.calls++;
    player->has_result = true;
    player->result_of = call->number;
    finish_event(player);
}

static const char *describe_call(struct player *player, const struct system_call *call) {
    return arena_print(player->arena, "makes the system call '%s'",
                       call_name(player->arena, call->number));
}

/* Takes the next event apart. Returns false if it is not one of a call, or is corrupt. */
static bool read_next(struct player *player, const struct system_call *call,
                      struct call_event *recorded) {
    struct clone_event made;
    struct event copy = player->event;
    bool good = true;
    *recorded = (struct call_event){0};
    switch (player->event.kind) {
    case QUIPU_EVENT_CALL:
        good = read_call_event(&copy, recorded);
        break;
    case QUIPU_EVENT_ENTRY:
        good = read_entry_event(&copy, recorded);
        break;
    case QUIPU_EVENT_CLONE:
        good = read_clone_event(&copy, &made);
        *recorded = (struct call_event){.number = call->number, .hash = made.hash};
        break;
    default:
        end_by_difference(player, describe_call(player, call));
    }
    if (!good)
        end_by_corruption(player);
    return !player->ended;
}

void play_call(struct player *player, const struct system_call *call) {
    struct call_event recorded;
    struct user_regs_struct registers;
    if (!peek_event(player) || !read_next(player, call, &recorded))
        return;
    if (recorded.number != call->number) {
        end_by_difference(player,
                          arena_print(player->arena, "%s and not '%s'", describe_call(player, call),
                                      call_name(player->arena, recorded.number)));
        return;
    }
    struct system_call given = *call;
    given.result = recorded.result;
    uint32_t written = hash_written(player->process, &given);
    if (!look_at_call(player, &registers) ||
        !is_same_hash(player, hash_registers(&registers, true) ^ written, recorded.hash)) {
        end_by_difference(player, arena_print(player->arena, "%s with other registers%s",
                                              describe_call(player, call),
                                              written ? ", or writes other bytes" : ""));
        return;
    }
    if (player->event.kind == QUIPU_EVENT_CALL) {
        give_call_event(player, &given, recorded.stream);
    } else if (player->event.kind == QUIPU_EVENT_CLONE) {
        play_clone(player, call);
    } else if (write_event_memory(player, call->arguments)) {
        player->thread->awaits = true;
        finish_event(player);
    }
}
