/* record_inside.c: system calls that are recorded inside of the program; see record.h and inside.h.
 *
 * A filter of the kernel (seccomp) reports each system call but those that the memory inside makes.
 * So the program goes on without stops up to a call that may wait, or that only the recorder knows.
 * What was made meanwhile is in the log of the memory, and is recorded at the next stop.
 *
 * A call that is made inside is an event as any other. A replay need not know.
 *
 * Not perfect: what a program does with a filter of its own is not seen behind that filter. So such
 * a program is recorded without the memory. If the recorder is killed, the calls since the last
 * stop are lost. */
#include "replay/record.h"

#include "util/process.h"
#include "x86/kernel.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

enum {
    BELOW_STACK = 4096 /* bytes below the stack pointer, where nothing is yet */
};

/* ---- the filter ---- */

struct filter {
    struct sock_filter code[7];
    struct sock_fprog program;
};

/* Only two instructions of the memory inside make calls that are not reported. */
static struct filter make_filter(uint64_t address) {
    enum {
        LOW = offsetof(struct seccomp_data, instruction_pointer),
        HIGH = LOW + sizeof(uint32_t)
    };
    struct filter filter = {
        .code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW),
                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, QUIPU_INSIDE_CALL_END, 1, 0),
                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, QUIPU_INSIDE_WAIT_END, 0, 3),
                 BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HIGH),
                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)},
    };
    filter.program.len = sizeof filter.code / sizeof *filter.code;
    filter.program.filter =
        (struct sock_filter *)(address + offsetof(struct filter, code)); /* NOLINT */
    return filter;
}

/* Adds the filter. A privileged process needs no promise to get no further privileges. */
static bool add_filter(struct recorder *recorder, pid_t thread, uint64_t address) {
    const uint64_t promise[6] = {PR_SET_NO_NEW_PRIVS, 1};
    const uint64_t add[6] = {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                             address + offsetof(struct filter, program)};
    if (inject_first_call(thread, SYS_seccomp, add) == 0)
        return true;
    recorder->promises = inject_first_call(thread, SYS_prctl, promise) == 0;
    return recorder->promises && inject_first_call(thread, SYS_seccomp, add) == 0;
}

void record_inside_begin(struct recorded_thread *thread) {
    uint8_t own[sizeof(struct filter)];
    uint64_t stack = 0;
    get_register(thread->number, offsetof(struct user_regs_struct, rsp), &stack);
    const uint64_t address = (stack - BELOW_STACK) & ~(uint64_t)15;
    const struct filter filter = make_filter(address);
    if (!read_memory(thread->number, address, own, sizeof own) ||
        !write_memory(thread->number, address, &filter, sizeof filter))
        return;
    thread->recorder->filters = add_filter(thread->recorder, thread->number, address);
    write_memory(thread->number, address, own, sizeof own);
}

/* ---- what was made ---- */

/* Adds the memory that the call of ENTRY has written. Returns the address behind its pieces. */
static bool add_pieces(struct recorded_thread *thread, const struct quipu_inside_entry *entry) {
    const uint8_t *at = (const uint8_t *)(entry + 1), *end = (const uint8_t *)entry + entry->size;
    for (uint16_t i = 0; i < entry->pieces; i++) {
        const struct quipu_inside_piece *piece = (const void *)at;
        uint64_t arguments[QUIPU_INSIDE_ARGUMENTS];
        if ((size_t)(end - at) < sizeof *piece || piece->size > (size_t)(end - at) - sizeof *piece)
            return false;
        for (uint32_t k = 0; k < QUIPU_INSIDE_ARGUMENTS; k++)
            arguments[k] = k == piece->argument ? piece->address : ~piece->address;
        add_recorded_memory(thread, piece->address, piece + 1, piece->size, arguments);
        at += sizeof *piece + QUIPU_INSIDE_ROUNDED(piece->size);
    }
    return true;
}

/* ANY is a thread of the process. */
static bool add_entry(struct recorded_thread *any, const struct quipu_inside_entry *entry) {
    struct recorded_thread *thread =
        entry->thread ? find_recorded_thread(any->recorder, (pid_t)entry->thread) : any;
    if (!thread || thread->process != any->process)
        return false;
    thread->has_boundary = thread->at_event = false;
    if (entry->pieces == QUIPU_INSIDE_ENTERS) {
        add_recorded_entry(thread, entry->number, entry->hash);
        thread->waits_inside = true;
        return true;
    }
    if (!add_pieces(thread, entry))
        return false;
    thread->waits_inside = thread->is_entry = false;
    recording_add_call(&thread->recorder->writer, thread->id, entry->number, entry->hash, 0,
                       entry->result);
    thread->recorder->calls++;
    if (entry->number == SYS_brk)
        thread->process->data_end = (uint64_t)entry->result;
    return true;
}

static void add_entries(struct recorded_thread *thread, const uint8_t *log, uint32_t used) {
    for (uint32_t at = 0; at + sizeof(struct quipu_inside_entry) <= used;) {
        const struct quipu_inside_entry *entry = (const void *)(log + at);
        if (entry->size < sizeof *entry || entry->size > used - at || !add_entry(thread, entry))
            return; /* the program has written there: its replay will differ */
        at += entry->size;
    }
}

void record_inside(struct recorded_thread *thread) {
    static uint64_t log[QUIPU_INSIDE_LOG_SIZE / sizeof(uint64_t)];
    const uint64_t place = QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, used);
    const struct { uint32_t used, taken, count; } none = {0};
    uint32_t used = 0;
    if (!thread->process->inside.is_mapped ||
        !read_memory(thread->number, place, &used, sizeof used) || !used ||
        used > QUIPU_INSIDE_LOG_SIZE || !read_memory(thread->number, QUIPU_INSIDE_LOG, log, used))
        return;
    recording_gather(&thread->recorder->writer, true);
    add_entries(thread, (const uint8_t *)log, used);
    recording_gather(&thread->recorder->writer, false);
    write_data(thread->number, place, &none, sizeof none);
}

/* ---- calls that have stopped ---- */

/* Whether another thread with the same memory stands behind the instruction at ADDRESS, or will
 * when its call ends. */
static bool others_stand_behind(const struct recorded_thread *thread, uint64_t address) {
    const uint64_t reach = CALL_SIZE + CALL_MOVED_MOST;
    for (const struct recorded_thread *at = thread->recorder->threads; at; at = at->next) {
        bool has_memory = at != thread && at->process->group == thread->process->group;
        bool in_call = at->state != RECORD_RUNS && at->behind - address <= reach;
        if (has_memory && (in_call || next_instruction(at->number) - address <= reach))
            return true;
    }
    return false;
}

static bool changes_descriptors(uint64_t number) {
    static const uint16_t calls[] = {SYS_close,   SYS_close_range, SYS_dup2, SYS_dup3,
                                     SYS_unshare, SYS_fcntl,       SYS_ioctl};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == number)
            return true;
    return false;
}

static void record_site(struct recorded_thread *thread, uint64_t address,
                        const struct inside_plan *plan) {
    struct buffer *event = recording_event(&thread->recorder->writer);
    put_number(event, address, sizeof address);
    put_signed(event, plan->padding);
    put_number(event, plan->moved, 1);
    buffer_add(event, plan->code, (size_t)CALL_SIZE + plan->moved);
    buffer_add(event, plan->padding_code, plan->padding ? CALL_JUMP_SIZE : 0);
    add_recorded_event(thread, QUIPU_EVENT_SITE);
}

void record_sites(struct recorder *recorder) {
    for (const struct recorded_process *process = recorder->processes; process;
         process = process->next) {
        struct recorded_thread *thread = recorder->threads;
        while (thread && (thread->process != process || thread->state >= RECORD_ENDS))
            thread = thread->next;
        for (size_t i = 0; i < process->inside.sites.count && thread; i++)
            if (process->inside.sites.data[i].is_patched)
                record_site(thread, process->inside.sites.data[i].address,
                            process->inside.sites.data[i].plan);
    }
}

/* The instruction at ADDRESS, behind which the thread is, makes calls inside from now on. */
static void replace_site(struct recorded_thread *thread, uint64_t address) {
    struct recorded_process *process = thread->process;
    struct inside *inside = &process->inside;
    const struct inside_visit visit = {
        .arena = &process->arena,
        .address = address,
        .plan = inside_plan_at(inside, &process->arena, &process->recorder->inside_files,
                               thread->number, address),
        .mode = QUIPU_INSIDE_RECORD,
        .may_move = !others_stand_behind(thread, address),
    };
    if (!inside_replace(inside, thread->number, &visit))
        return;
    process->site = QUIPU_INSIDE;
    record_site(thread, address, visit.plan);
    set_boundary(thread, false);
}

void record_inside_call(struct recorded_thread *thread) {
    struct recorded_process *process = thread->process;
    struct inside *inside = &process->inside;
    if (!stops_by_filter(process) || thread->state != RECORD_RUNS)
        return;
    if (thread->vforks) /* the child has ended, or executes another program */
        inside->is_shared = false;
    if (changes_descriptors(thread->call.number))
        inside_forget_descriptors(inside, thread->number);
    if (!may_be_inside(thread->call.number) || thread->stream)
        return;
    const uint64_t address = thread->behind - CALL_SIZE;
    if (inside_is_due(inside, &process->arena, address))
        replace_site(thread, address);
}
