/* record_image.c: images of all recorded processes, so that a recording can begin there; see
 * record.h.
 *
 * A replay begins with an image, and passes over later ones. So an image can be made at any moment
 * at which the memory and the registers of all threads are what the events up to then have made of
 * them. Those that execute are stopped for that; those that sleep in a call are not disturbed:
 * their registers in front of each call are kept.
 *
 * There is no image while some thread makes or ends a thread, a process or a program, or changes
 * which memory it has: some milliseconds later there is.
 *
 * Not perfect: a process that shares its memory with its maker without end, and not its threads,
 * has no image, so all of the run is kept. */
#include "replay/record.h"

#include "replay/start.h"
#include "util/clock.h"
#include "util/process.h"
#include "x86/kernel.h"
#include "x86/processor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CALL_STATUS = (SIGTRAP | 0x80) << 8 | 0x7f /* of wait: in front of a call, or behind it */
};

/* The time that images take is at most this part of all. */
static const double share = 0.05;

/* ---- registers in front of calls ---- */

/* The thread is in front of the call instead of in it. */
static void leave_entry(struct user_regs_struct *registers) {
    registers->rip -= 2;
    registers->rax = registers->orig_rax;
}

bool is_entry_stop(pid_t number, int status) {
    bool may_be = status == CALL_STATUS || status >> 16 == PTRACE_EVENT_SECCOMP;
    return may_be && read_stop(number, status, NULL).reason == REASON_CALL_ENTRY;
}

/* ---- all stand ---- */

/* Whether the call changes more than the contents of memory. */
static bool changes_more(const struct recorded_thread *thread) {
    uint8_t repeats = find_call_row(&thread->call)->repeats;
    uint64_t number = thread->call.number;
    return repeats == QUIPU_CALL_AGAIN || repeats == QUIPU_CALL_MAPS ||
           repeats == QUIPU_CALL_APART || number == SYS_exit || number == SYS_exit_group;
}

/* Whether it is the first thread of a process, and others of that go on. */
static bool is_gone(const struct recorded_thread *thread) {
    return thread->state == RECORD_ENDS && thread->number == thread->process->number &&
           has_ended(thread->number, thread->number);
}

static bool may_be_in_image(const struct recorded_thread *thread) {
    if (thread->process->shares_all)
        return false;
    int event = thread->is_pending ? thread->pending >> 16 : 0;
    if (thread->is_pending &&
        (!WIFSTOPPED(thread->pending) || (event && event != PTRACE_EVENT_SECCOMP) ||
         thread->pending == STEPPED)) /* it may be behind a breakpoint */
        return false;
    switch (thread->state) {
    case RECORD_RUNS:
        return true;
    case RECORD_IN_CALL:
    case RECORD_INTERRUPTED:
        return thread->entry && !changes_more(thread);
    case RECORD_TURNED_BACK:
        return thread->entry;
    case RECORD_ENDS: /* the end of a first thread is told behind those of others */
        return is_gone(thread);
    default:
        return false;
    }
}

static bool all_may_be(const struct recorder *recorder) {
    for (const struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (!may_be_in_image(at))
            return false;
    return recorder->threads && !recorder->early.count;
}

static bool executes(const struct recorded_thread *thread) {
    return thread->state == RECORD_RUNS && !thread->stands && !thread->is_pending;
}

/* If the thread, which is stopped, makes a call inside, it comes to the end of that. Returns
 * whether it stands then. */
static bool come_to_end(struct recorded_thread *thread) {
    struct inside *inside = &thread->process->inside;
    int status = 0;
    if (record_interrupted(thread))
        return true;
    status = inside_run_out(inside, thread->number, 0);
    if (!status)
        status = inside_step_out(inside, thread->number);
    if (status) {
        thread->stands_for_image = false;
        take_status(thread, status);
        return false;
    }
    record_inside(thread);
    return true;
}

/* Stops THREAD, which executes. Returns whether it stands where it was. Otherwise it has come to a
 * stop of its own, which is pending. */
static bool stop_for_image(struct recorded_thread *thread) {
    int status = 0;
    if (syscall(SYS_tgkill, thread->process->number, thread->number, SIGSTOP) != 0)
        return false;
    if (!await_status(thread, &status))
        return false;
    if (status == STOPPED) {
        thread->stands_for_image = true;
        thread->had_tick = thread->tick.block;
        end_tick(thread);
        return come_to_end(thread);
    }
    if (is_entry_stop(thread->number, status))
        thread->tick_asked = true; /* the stop that was asked must not end the call */
    else
        thread->stop_asked = true;
    take_status(thread, status);
    return false;
}

/* Stops those that execute. Returns false if that cannot be now. None is on its way to a tick then.
 */
static bool stop_all(struct recorder *recorder) {
    for (struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (executes(at) && !stop_for_image(at) && !at->is_pending)
            return false;
    if (!all_may_be(recorder))
        return false;
    for (struct recorded_thread *at = recorder->threads; at; at = at->next)
        end_tick(at);
    return true;
}

static void continue_all(struct recorder *recorder) {
    for (struct recorded_thread *at = recorder->threads; at; at = at->next) {
        if (!at->stands_for_image)
            continue;
        at->stands_for_image = false;
        if (at->had_tick)
            begin_tick(at, 1);
        continue_thread(at, 0);
    }
}

/* ---- the image ---- */

/* Sets the registers with which THREAD goes on in a replay. */
static bool find_registers(const struct recorded_thread *thread, struct registers *registers) {
    if (is_gone(thread)) { /* a replay has its thread, which does nothing */
        memset(registers, 0, sizeof *registers);
    } else if (thread->state != RECORD_RUNS) {
        if (!thread->entry)
            return false;
        *registers = *thread->entry;
        leave_entry(&registers->general);
    } else {
        if (!get_registers(thread->number, registers))
            return false;
        inside_look(&thread->process->inside, &registers->general);
        if (thread->is_pending && is_entry_stop(thread->number, thread->pending))
            leave_entry(&registers->general);
    }
    registers->general.orig_rax = UINT64_MAX;
    return true;
}

/* Sets the LAYOUT of the memory of THREAD, in the order of struct prctl_mm_map. */
static bool read_layout(const struct recorded_thread *thread, uint64_t layout[QUIPU_IMAGE_LAYOUT]) {
    static const uint8_t fields[QUIPU_IMAGE_LAYOUT] = {26, 27, 45, 46, 47, 0, 28, 48, 49, 50, 51};
    char name[64], text[2048] = "";
    snprintf(name, sizeof name, "/proc/%d/stat", (int)thread->number);
    FILE *file = fopen(name, "re");
    if (!file)
        return false;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *at = strrchr(text, ')'); /* behind the second field */
    for (int field = 2; at; field++, at = strchr(at + 1, ' '))
        for (int i = 0; i < QUIPU_IMAGE_LAYOUT; i++)
            if (fields[i] == field)
                layout[i] = strtoull(at, NULL, 10);
    layout[5] = thread->process->data_end ? thread->process->data_end : layout[4];
    return layout[4];
}

/* Adds the PARTS of the memory of THREAD as the program has it. */
static bool add_memory(struct recorder *recorder, const struct recorded_thread *thread,
                       const memory_part_list *parts, struct arena *arena,
                       memory_part_list *written) {
    const struct inside *inside = &thread->process->inside;
    inside_show(inside, thread->number, false);
    bool good = record_memory_parts(recorder, thread->number, thread->id, parts, arena, written);
    inside_show(inside, thread->number, true);
    return good;
}

static bool add_threads(struct recorder *recorder, const struct recorded_process *process) {
    static struct image_thread image;
    for (const struct recorded_thread *at = recorder->threads; at; at = at->next) {
        if (at->process != process)
            continue;
        if (!find_registers(at, &image.registers))
            return false;
        image.id = at->id;
        image.number = (uint32_t)at->number;
        image.name = at->name;
        image.children = at->children;
        image.successors = at->successors;
        image.stack = at->stack;
        image.stack_end = at->stack_end;
        write_image_thread(&recorder->writer, &image);
    }
    return true;
}

/* Returns a thread of PROCESS by whose number the kernel tells of its memory. */
static const struct recorded_thread *find_thread(const struct recorded_process *process) {
    const struct recorded_thread *found = NULL;
    for (const struct recorded_thread *at = process->recorder->threads; at; at = at->next)
        if (at->process == process && !is_gone(at))
            found = at;
    return found;
}

/* Adds PROCESS, with its memory and threads. */
static bool add_process(struct recorder *recorder, const struct recorded_process *process,
                        struct arena *arena, memory_part_list *written) {
    const struct recorded_thread *thread = find_thread(process);
    struct image_process image = {.number = (uint32_t)process->number,
                                  .is_first = process->number == recorder->first,
                                  .has_armed_ticks = process->ticks.armed,
                                  .path = process->path,
                                  .name = process->name,
                                  .threads = process->threads};
    struct buffer auxiliary = {0};
    memory_part_list parts = {0};
    char name[64];
    if (!thread)
        return false;
    snprintf(name, sizeof name, "/proc/%d/auxv", (int)thread->number);
    bool good = describe_memory_parts(thread, arena, &parts) && read_layout(thread, image.layout) &&
                buffer_read_file(&auxiliary, name) &&
                read_stack_limit(thread->number, &image.stack_limit);
    for (size_t i = 0; i < parts.count; i++)
        vector_push(arena, &image.mappings, parts.data[i].mapping);
    image.auxiliary = (const uint8_t *)auxiliary.data;
    image.auxiliary_size = auxiliary.count;
    good = good && write_image_process(&recorder->writer, thread->id, &image) &&
           add_memory(recorder, thread, &parts, arena, written) && add_threads(recorder, process);
    buffer_release(&auxiliary);
    return good;
}

static void add_head(struct recorder *recorder, struct arena *arena) {
    const struct affinity *affinity = &recorder->affinity;
    struct run_image image = {
        .processor = affinity->bound && !affinity->given_up ? (uint32_t)sched_getcpu() : UINT32_MAX,
        .identity = processor_identity(),
        .began = (uint64_t)recorder->began.tv_sec,
        .made = (uint64_t)time(NULL),
        .calls = recorder->calls,
        .signals = recorder->signals,
        .first = (uint32_t)recorder->first,
        .first_ended = recorder->first_ended,
        .status = recorder->status,
        .threads = recorder->begun,
        .path = recorder->last.program,
    };
    for (char **word = recorder->last.command; *word; word++)
        vector_push(arena, &image.command, *word);
    for (const struct recorded_process *at = recorder->processes; at; at = at->next)
        image.processes++;
    write_image_head(&recorder->writer, &image);
}

/* Adds an image. Returns its place in the file, or 0 if there is none. */
static uint64_t add_image(struct recorder *recorder) {
    struct arena arena = {0};
    memory_part_list written = {0};
    uint64_t place = recording_begin_image(&recorder->writer);
    bool good = true;
    add_head(recorder, &arena);
    for (const struct recorded_process *at = recorder->processes; at && good; at = at->next)
        good = add_process(recorder, at, &arena, &written);
    recording_end_image(&recorder->writer);
    record_sites(recorder);
    record_files_again(recorder);
    arena_release(&arena);
    forget_parts(&recorder->pieces); /* the contents may be dropped that they are in */
    return good && !recorder->writer.failure ? place : 0;
}

/* ---- the last seconds ---- */

/* Drops what is older than wanted. */
static void drop_old_parts(struct recorder *recorder, double now) {
    struct last *last = &recorder->last;
    size_t first = 0;
    for (size_t i = 1; i < last->parts.count; i++)
        if (last->parts.data[i].time <= now - last->seconds)
            first = i;
    if (!first)
        return;
    recording_drop(&recorder->writer, last->parts.data[first].place);
    last->parts.count -= first;
    memmove(last->parts.data, last->parts.data + first,
            last->parts.count * sizeof *last->parts.data);
}

/* What begins at PLACE of the file can be kept alone. */
static void add_kept_part(struct recorder *recorder, uint64_t place, double now) {
    vector_push(recorder->arena, &recorder->last.parts, ((struct kept_part){place, now}));
}

void begin_last(struct recorder *recorder, double seconds, const char *program, char **command) {
    struct last *last = &recorder->last;
    double now = clock_seconds();
    *last = (struct last){.seconds = seconds, .command = command};
    last->program = arena_copy(recorder->arena, program, strlen(program));
    last->next = now + seconds / 2;
    if (seconds)
        add_kept_part(recorder, recorder->writer.begin, now);
}

/* Whether nothing has happened since the last image, and nobody executes. */
static bool is_idle(const struct recorder *recorder) {
    const struct recording_writer *writer = &recorder->writer;
    for (const struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (executes(at))
            return false;
    return !writer->events.count && writer->block == recorder->last.end;
}

void look_at_last(struct recorder *recorder, double now) {
    struct last *last = &recorder->last;
    drop_old_parts(recorder, now);
    if (!last->seconds || now < last->next || recorder->writer.failure || !all_may_be(recorder))
        return;
    if (is_idle(recorder)) {
        last->parts.data[last->parts.count - 1].time = now;
        last->next = now + last->seconds / 2;
    } else if (stop_all(recorder)) {
        uint64_t place = add_image(recorder);
        double took = clock_seconds() - now;
        last->next = now + (took / share > last->seconds / 2 ? took / share : last->seconds / 2);
        last->end = place ? recorder->writer.block : 0;
        if (place)
            add_kept_part(recorder, place, now);
    }
    continue_all(recorder);
}
