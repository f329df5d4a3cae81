/* approach.c: runs a program up to a moment.
 *
 * Mellor-Crummey & LeBlanc 1989, section 5: a breakpoint at the instruction alone would stop at
 * each of its executions. So the thread's countdown is set to end shortly before the moment. Only
 * then breakpoints are set at the instruction. At each stop the exact count is compared: the cells
 * plus the potential from the binary's table. A second countdown ends shortly behind the moment; if
 * it does, the moment was missed.
 *
 * For a moment of a shared object, the run waits until the object is loaded. The object has its own
 * counter. If the object is closed, its breakpoints are gone, and are set anew when it is loaded
 * again.
 *
 * requires: countdowns of the runtime (quipu_moment_thread, quipu_moment_near:
 * runtime/moment/moment.c) */
#include "moment/approach.h"

#include "format/event.h"
#include "moment/object.h"
#include "symbols/backtrace.h"
#include "symbols/demangle.h"
#include "symbols/event_tables.h"
#include "tracee/countdown.h"
#include "tracee/tests.h"
#include "x86/trap.h"

#include <elf.h>
#include <string.h>
#include <sys/wait.h>

enum {
    MARGIN = 1024 /* ticks, in addition to the greatest potential of the binary */
};

#define NEVER UINT64_MAX

struct approach {
    struct arena *arena;
    struct binary *program, *binary; /* binary: of the moment; NULL: it is not loaded */
    struct binary *object;           /* the moment's shared object, if it was ever loaded */
    const struct moment_name *name;
    address_list places;
    struct tracee *tracee;
    struct arrival *arrival;
    uint64_t loader_hook, entry; /* where the object is searched for; 0: nowhere */
    uint64_t bias, thread_hook, near_hook;
    pid_t thread;   /* the moment's thread; 0: it has not begun */
    uint64_t block; /* address of the thread's cells of events */
    uint64_t begun; /* number of threads that have begun */
    uint64_t last;  /* ticks at the last look */
    uint64_t margin;
    bool is_random; /* the program's addresses are random */
    /* Whether breakpoints are at the instructions, and whether the moment's ticks have passed. */
    bool is_near, is_past;
    uint64_t before, after; /* ticks at which the thread was at the instruction: last before the
                               moment, first behind it; NEVER: it was not */
    const char *there;      /* where the thread was at the moment's ticks; "": not known */
    const char *end;        /* the ticks and location of the thread's end; "": it has not ended */
};

static void set_countdown_end(struct approach *approach, uint64_t ticks) {
    write_tracee(approach->tracee, approach->block + QUIPU_EVENT_COUNTDOWN_END, &ticks,
                 sizeof ticks);
}

/* Returns the thread's ticks if it is stopped at ADDRESS, as linked; 0: outside of the binary. */
static uint64_t ticks_at(const struct approach *approach, uint64_t address) {
    uint64_t cells[QUIPU_MANY_LANES] = {0}, begin = 0, count = 0;
    int64_t sums[QUIPU_EVENTS] = {0};
    read_tracee(approach->tracee, approach->block + 8 * quipu_first_cell(QUIPU_EVENT_TICKS), cells,
                sizeof cells);
    read_tracee(approach->tracee, approach->block + QUIPU_EVENT_BEGIN, &begin, sizeof begin);
    read_tracee(approach->tracee, approach->block + QUIPU_EVENT_BASE, &count, sizeof count);
    if (address)
        add_events_above(approach->binary, address, 0, sums);
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        count += cells[lane];
    return count - begin + (uint64_t)sums[QUIPU_EVENT_TICKS];
}

static void watch_places(struct approach *approach) {
    for (size_t i = 0; i < approach->places.count; i++)
        put_breakpoint(approach->tracee, approach->places.data[i] + approach->bias, false);
    approach->is_near = true;
    set_countdown_end(approach, approach->name->ticks ? approach->name->ticks : 1);
}

/* Returns the address, as linked, in the innermost instrumented function of THREAD, which is
 * stopped; 0: none. */
static uint64_t address_of(const struct approach *approach, pid_t thread) {
    struct caller_list list;
    read_callers(thread, &list);
    for (size_t i = 0; i < list.count; i++)
        if (has_events_at(approach->binary, list.addresses[i] - approach->bias))
            return list.addresses[i] - approach->bias;
    return 0;
}

/* Returns a text such as "in 'work' (program.c:3)". */
static const char *place_of(const struct approach *approach, uint64_t address) {
    const struct symbol *function = address ? binary_function(approach->binary, address) : NULL;
    const char *line = address ? line_text(approach->arena, approach->binary, address) : "";
    const char *text = function ? arena_print(approach->arena, "in '%s'",
                                              demangle(approach->arena, function->name))
                                : "outside of instrumented functions";
    return *line ? arena_print(approach->arena, "%s (%s)", text, line) : text;
}

/* The moment's ticks have passed. Sets a second countdown. If it ends, the moment was missed. */
static void pass_moment(struct approach *approach) {
    approach->is_past = true;
    approach->there = place_of(approach, address_of(approach, approach->thread));
    set_countdown_end(approach, approach->name->ticks + approach->margin);
}

/* Records where the thread ends. It is stopped in front of its end. */
static void end_thread(struct approach *approach) {
    uint64_t address = approach->binary ? address_of(approach, approach->thread) : 0;
    approach->end = arena_print(approach->arena, "at tick %llu%s%s",
                                (unsigned long long)ticks_at(approach, address), address ? " " : "",
                                address ? place_of(approach, address) : "");
}

/* Sets the first countdown of the moment's thread. */
static void begin_countdown(struct approach *approach) {
    if (approach->name->ticks <= ticks_at(approach, 0) + approach->margin)
        watch_places(approach);
    else
        set_countdown_end(approach, approach->name->ticks - approach->margin);
}

/* A thread has got its cells. Threads that begin at the same time may come here in another order
 * than that of their numbers. */
static void begin_thread(struct approach *approach, pid_t thread) {
    uint64_t number = 0, block = first_argument(thread);
    approach->begun++;
    read_tracee(approach->tracee, block + QUIPU_EVENT_THREAD, &number, sizeof number);
    if (number != approach->name->thread)
        return;
    approach->thread = thread;
    approach->block = block;
    begin_countdown(approach);
}

/* Describes the ticks, near the moment's, at which the thread reached the instruction. */
static const char *visits(const struct approach *approach) {
    unsigned long long before = approach->before, after = approach->after;
    if (approach->before == NEVER && approach->after == NEVER)
        return "it did not come by near that tick";
    if (approach->after == NEVER)
        return arena_print(approach->arena, "it came by last at tick %llu", before);
    if (approach->before == NEVER)
        return arena_print(approach->arena, "it came by only at tick %llu", after);
    return arena_print(approach->arena, "it came by at tick %llu, and then at tick %llu", before,
                       after);
}

static const char *missed(struct approach *approach) {
    return arena_print(
        approach->arena,
        "thread %u was not there at tick %llu, but %s; %s; the program does not repeat "
        "itself (input, time, addresses), or the moment is of another run%s",
        approach->name->thread, (unsigned long long)approach->name->ticks, approach->there,
        visits(approach),
        approach->is_random ? "; its addresses are random here, as the system refuses personality"
                            : "");
}

static const char *ended(struct approach *approach) {
    int status = approach->tracee->status;
    const char *how = WIFSIGNALED(status)
                          ? arena_print(approach->arena, "signal %d", WTERMSIG(status))
                          : arena_print(approach->arena, "exit status %d", WEXITSTATUS(status));
    if (approach->tracee->is_other)
        return arena_print(
            approach->arena,
            "the program has become another one, by exec, before that moment, and has "
            "ended (%s)",
            how);
    if (!approach->binary && approach->object)
        return arena_print(approach->arena,
                           "the program has closed the moment's shared object before that moment, "
                           "and has ended (%s)",
                           how);
    if (!approach->binary)
        return arena_print(
            approach->arena,
            "it is a moment of another build (build id %s...), or of a shared object "
            "that was not loaded; the program has ended (%s)",
            approach->name->build, how);
    if (!approach->thread)
        return arena_print(approach->arena,
                           "the program has ended (%s), and had %llu thread%s in instrumented code",
                           how, (unsigned long long)approach->begun,
                           approach->begun == 1 ? "" : "s");
    if (approach->is_past)
        return arena_print(approach->arena, "%s; the program has ended (%s)", missed(approach),
                           how);
    return arena_print(approach->arena, "the program has ended (%s) before that moment%s%s%s%s",
                       how, *approach->end ? ": the thread ended " : "", approach->end,
                       approach->before != NEVER ? "; " : "",
                       approach->before != NEVER ? visits(approach) : "");
}

/* The thread is stopped at one of the instructions. Returns whether this is the moment. */
static bool is_moment(struct approach *approach, uint64_t address) {
    approach->last = ticks_at(approach, address - approach->bias);
    if (approach->last < approach->name->ticks)
        approach->before = approach->last;
    else if (approach->last > approach->name->ticks && approach->after == NEVER)
        approach->after = approach->last;
    return approach->last == approach->name->ticks;
}

/* ---- the moment's binary ---- */

/* Prepares the binary, which is loaded. None of its code has been executed. Returns NULL or a
 * message. */
static const char *begin_binary(struct approach *approach) {
    approach->thread_hook = find_hook(approach->binary, true) + approach->bias;
    approach->near_hook = find_hook(approach->binary, false) + approach->bias;
    approach->margin = MARGIN + most_ticks_above(approach->binary);
    const char *wrong =
        put_tests(tracee_memory(approach->tracee), approach->binary, approach->bias);
    put_breakpoint(approach->tracee, approach->thread_hook, true);
    put_breakpoint(approach->tracee, approach->near_hook, true);
    return wrong;
}

/* Takes the shared object at PATH as the moment's binary. Returns NULL or a message. */
static const char *begin_object(struct approach *approach, const char *path) {
    struct binary *object = NULL;
    const char *wrong = binary_open(approach->arena, path, &object);
    if (!wrong) {
        approach->arrival->binary = object;
        wrong = check_program(object);
    }
    if (!wrong)
        wrong = find_places(approach->arena, object, approach->name, &approach->places);
    if (wrong)
        return arena_print(approach->arena, "it is a moment of '%s': %s", path, wrong);
    approach->binary = approach->object = object;
    return begin_binary(approach);
}

/* The moment's shared object is loaded again. Threads go on with their cells, and are not reported
 * again. Returns NULL or a message. */
static const char *return_to_object(struct approach *approach) {
    approach->binary = approach->object;
    const char *wrong = begin_binary(approach);
    if (!wrong && approach->thread)
        begin_countdown(approach);
    return wrong;
}

/* Returns the end of BINARY's memory, as linked. */
static uint64_t end_of(const struct binary *binary) {
    uint64_t end = 0;
    for (size_t i = 0; i < binary->segments.count; i++) {
        const struct segment *segment = &binary->segments.data[i];
        uint64_t last = segment->address + segment->size;
        end = last > end ? last : end;
    }
    return end;
}

/* The moment's shared object has been closed. It may be loaded again, at any address. */
static void leave_object(struct approach *approach) {
    forget_breakpoints(approach->tracee, approach->bias, approach->bias + end_of(approach->object));
    approach->binary = NULL;
    approach->is_near = false;
}

/* Whether the moment may be of another build of PROGRAM. */
static bool may_be_older(const struct approach *approach) {
    struct moment_name name = *approach->name;
    address_list places = {0};
    name.build = "";
    return !find_places(approach->arena, approach->program, &name, &places);
}

/* Called at ADDRESS when the loader has loaded or closed objects, or the program begins. Looks for
 * the moment's object. Returns NULL or a message. */
static const char *look_for_object(struct approach *approach, uint64_t address) {
    uint64_t bias;
    if (approach->binary && !approach->object)
        return NULL; /* it is the program */
    const char *path =
        find_object(approach->arena, tracee_memory(approach->tracee), approach->name->build, &bias);
    if (approach->binary && path && bias == approach->bias)
        return NULL;
    if (approach->binary)
        leave_object(approach);
    if (path) {
        approach->bias = bias;
        return approach->object ? return_to_object(approach) : begin_object(approach, path);
    }
    if (address == approach->entry && may_be_older(approach))
        return arena_print(approach->arena, "it is a moment of another build (build id %s...)",
                           approach->name->build);
    return NULL;
}

/* Handles a stop of THREAD at ADDRESS. Returns whether it is the moment. Sets *WRONG if the moment
 * was missed. */
static bool take_breakpoint(struct approach *approach, pid_t thread, uint64_t address,
                            const char **wrong) {
    if (!address) {
        if (thread == approach->thread && !approach->tracee->is_other)
            end_thread(approach);
        return false;
    }
    if (address == approach->loader_hook || address == approach->entry) {
        *wrong = look_for_object(approach, address);
        stop_tracee(approach->tracee);
        step_over(approach->tracee, thread, address);
        return false;
    }
    if (address == approach->thread_hook) {
        begin_thread(approach, thread);
        return false;
    }
    if (address == approach->near_hook) {
        if (thread == approach->thread && approach->is_past)
            *wrong = missed(approach);
        else if (thread == approach->thread && approach->is_near)
            pass_moment(approach);
        else if (thread == approach->thread)
            watch_places(approach);
        return false;
    }
    if (thread == approach->thread && is_moment(approach, address))
        return true;
    stop_tracee(approach->tracee);
    step_over(approach->tracee, thread, address);
    return false;
}

const char *check_program(const struct binary *binary) {
    if (find_hook(binary, true) && find_hook(binary, false))
        return NULL;
    return binary->cells_size ? "it was not built with '--quipu=moment', or its symbols were "
                                "stripped; build it so and keep them"
                              : "it was not built by 'quipu cc --quipu=moment'";
}

static const char *start_approach(struct approach *approach, char **argv) {
    const char *wrong = start_tracee(approach->tracee, argv);
    if (wrong)
        return *wrong ? arena_print(approach->arena, "cannot be run under control: %s", wrong)
                      : wrong;
    approach->is_random = has_random_addresses(approach->tracee);
    stop_at_ends(approach->tracee);
    if (approach->binary) {
        GElf_Ehdr header;
        gelf_getehdr(approach->binary->elf, &header);
        approach->bias = program_bias(approach->tracee->process, header.e_entry);
        return begin_binary(approach);
    }
    uint64_t hook = find_loader_hook(approach->arena, approach->program);
    approach->loader_hook = auxiliary_value(approach->tracee->process, AT_BASE) + hook;
    approach->entry = auxiliary_value(approach->tracee->process, AT_ENTRY);
    put_breakpoint(approach->tracee, approach->entry, false);
    if (hook)
        put_breakpoint(approach->tracee, approach->loader_hook, false);
    return NULL;
}

const char *approach(struct arena *arena, struct binary *program, const struct moment_name *name,
                     const address_list *places, char **argv, struct tracee *tracee,
                     struct arrival *arrival) {
    struct approach approach = {.arena = arena,
                                .program = program,
                                .binary = places->count ? program : NULL,
                                .name = name,
                                .places = *places,
                                .tracee = tracee,
                                .arrival = arrival,
                                .before = NEVER,
                                .after = NEVER,
                                .there = "",
                                .end = ""};
    uint64_t address;
    const char *wrong = start_approach(&approach, argv);
    while (!wrong) {
        pid_t thread = run_to_breakpoint(tracee, &address);
        if (!thread)
            return ended(&approach);
        if (!take_breakpoint(&approach, thread, address, &wrong))
            continue;
        stop_tracee(tracee);
        remove_breakpoints(tracee);
        take_tests_out(tracee_memory(tracee), approach.binary, approach.bias);
        *arrival = (struct arrival){thread, address - approach.bias, approach.last, approach.bias,
                                    approach.binary};
        return NULL;
    }
    kill_tracee(tracee);
    return wrong;
}
