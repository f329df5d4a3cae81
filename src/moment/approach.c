/* approach.c: runs a program up to a moment.
 *
 * Mellor-Crummey & LeBlanc 1989, section 5: a breakpoint at the instruction alone would stop at
 * each of its executions. So the thread's countdown is set to end shortly before the moment. Only
 * then breakpoints are set at the instruction. At each stop the exact count is compared: the cells
 * plus the potential from the binary's table. A second countdown ends shortly behind the moment; if
 * it does, the moment was missed.
 *
 * For a moment of a shared object, the run waits until the object is loaded. The object has its own
 * counter.
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
    MARGIN = 1024 /* ticks, in addition to the most that a function may have above its cells */
};

#define NEVER UINT64_MAX

struct way {
    struct arena *arena;
    struct binary *program, *binary; /* binary: of the moment; NULL: not loaded yet */
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
    bool is_near,
        is_past; /* breakpoints are set at the instructions; the moment's ticks have been reached */
    uint64_t before, after; /* ticks of its last visit of the instruction before the moment and of
                               the first behind it; NEVER */
    const char *there;      /* where it was at the moment's ticks; "": not known */
    const char *end;        /* the ticks and location of its end; "": it has not ended */
};

static void set_goal(struct way *way, uint64_t ticks) {
    write_tracee(way->tracee, way->block + QUIPU_EVENT_GOAL, &ticks, sizeof ticks);
}

/* The thread's ticks if it is in front of ADDRESS, as linked. */
static uint64_t ticks_at(const struct way *way, uint64_t address) {
    uint64_t cells[QUIPU_MANY_LANES] = {0}, begin = 0, count = 0;
    int64_t sums[QUIPU_EVENTS] = {0};
    read_tracee(way->tracee, way->block + 8 * quipu_first_cell(QUIPU_EVENT_TICKS), cells,
                sizeof cells);
    read_tracee(way->tracee, way->block + QUIPU_EVENT_BEGIN, &begin, sizeof begin);
    read_tracee(way->tracee, way->block + QUIPU_EVENT_BASE, &count, sizeof count);
    add_events_above(way->binary, address, 0, sums);
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        count += cells[lane];
    return count - begin + (uint64_t)sums[QUIPU_EVENT_TICKS];
}

static void watch_places(struct way *way) {
    for (size_t i = 0; i < way->places.count; i++)
        put_breakpoint(way->tracee, way->places.data[i] + way->bias, false);
    way->is_near = true;
    set_goal(way, way->name->ticks ? way->name->ticks : 1);
}

/* Returns the address, as linked, in the innermost instrumented function of THREAD, which is
 * stopped; 0: none. */
static uint64_t address_of(const struct way *way, pid_t thread) {
    struct caller_list list;
    read_callers(thread, &list);
    for (size_t i = 0; i < list.count; i++)
        if (has_events_at(way->binary, list.addresses[i] - way->bias))
            return list.addresses[i] - way->bias;
    return 0;
}

/* "in 'work' (program.c:3)" */
static const char *place_of(const struct way *way, uint64_t address) {
    const struct symbol *function = address ? binary_function(way->binary, address) : NULL;
    const char *line = address ? line_text(way->arena, way->binary, address) : "";
    const char *text =
        function ? arena_print(way->arena, "in '%s'", demangle(way->arena, function->name))
                 : "outside of instrumented functions";
    return *line ? arena_print(way->arena, "%s (%s)", text, line) : text;
}

/* The moment's ticks have passed. If the countdown ends again shortly behind them, the moment was
 * missed. */
static void pass_moment(struct way *way) {
    way->is_past = true;
    way->there = place_of(way, address_of(way, way->thread));
    set_goal(way, way->name->ticks + way->margin);
}

/* The thread is stopped in front of its end. */
static void end_thread(struct way *way) {
    uint64_t address = address_of(way, way->thread);
    way->end =
        arena_print(way->arena, "at tick %llu%s%s", (unsigned long long)ticks_at(way, address),
                    address ? " " : "", address ? place_of(way, address) : "");
}

/* A thread has got its cells. Threads that begin at the same time may come here in another order
 * than that of their numbers. */
static void begin_thread(struct way *way, pid_t thread) {
    uint64_t number = 0, block = first_argument(thread);
    way->begun++;
    read_tracee(way->tracee, block + QUIPU_EVENT_THREAD, &number, sizeof number);
    if (number != way->name->thread)
        return;
    way->thread = thread;
    way->block = block;
    if (way->name->ticks <= way->margin)
        watch_places(way);
    else
        set_goal(way, way->name->ticks - way->margin);
}

/* Describes the ticks, near the moment's, at which the thread reached the instruction. */
static const char *visits(const struct way *way) {
    unsigned long long before = way->before, after = way->after;
    if (way->before == NEVER && way->after == NEVER)
        return "it did not come by near that tick";
    if (way->after == NEVER)
        return arena_print(way->arena, "it came by last at tick %llu", before);
    if (way->before == NEVER)
        return arena_print(way->arena, "it came by only at tick %llu", after);
    return arena_print(way->arena, "it came by at tick %llu, and then at tick %llu", before, after);
}

static const char *missed(struct way *way) {
    return arena_print(
        way->arena,
        "thread %u was not there at tick %llu, but %s; %s; the program does not repeat "
        "itself (input, time, addresses), or the moment is of another run%s",
        way->name->thread, (unsigned long long)way->name->ticks, way->there, visits(way),
        way->is_random ? "; its addresses are random here, as the system refuses personality" : "");
}

static const char *ended(struct way *way) {
    int status = way->tracee->status;
    const char *how = WIFSIGNALED(status)
                          ? arena_print(way->arena, "signal %d", WTERMSIG(status))
                          : arena_print(way->arena, "exit status %d", WEXITSTATUS(status));
    if (way->tracee->is_other)
        return arena_print(
            way->arena,
            "the program has become another one, by exec, before that moment, and has "
            "ended (%s)",
            how);
    if (!way->binary)
        return arena_print(
            way->arena,
            "it is a moment of another build (build id %s...), or of a shared object "
            "that was not loaded; the program has ended (%s)",
            way->name->build, how);
    if (!way->thread)
        return arena_print(way->arena,
                           "the program has ended (%s), and had %llu thread%s in instrumented code",
                           how, (unsigned long long)way->begun, way->begun == 1 ? "" : "s");
    if (way->is_past)
        return arena_print(way->arena, "%s; the program has ended (%s)", missed(way), how);
    return arena_print(way->arena, "the program has ended (%s) before that moment%s%s%s%s", how,
                       *way->end ? ": the thread ended " : "", way->end,
                       way->before != NEVER ? "; " : "", way->before != NEVER ? visits(way) : "");
}

/* The thread is stopped at one of the instructions. Returns whether this is the moment. */
static bool is_moment(struct way *way, uint64_t address) {
    way->last = ticks_at(way, address - way->bias);
    if (way->last < way->name->ticks)
        way->before = way->last;
    else if (way->last > way->name->ticks && way->after == NEVER)
        way->after = way->last;
    return way->last == way->name->ticks;
}

/* ---- the moment's binary ---- */

/* The binary is loaded, and none of its code has been executed. */
static const char *begin_binary(struct way *way) {
    way->thread_hook = find_hook(way->binary, true) + way->bias;
    way->near_hook = find_hook(way->binary, false) + way->bias;
    way->margin = MARGIN + most_ticks_above(way->binary);
    const char *wrong = put_tests(tracee_memory(way->tracee), way->binary, way->bias);
    put_breakpoint(way->tracee, way->thread_hook, true);
    put_breakpoint(way->tracee, way->near_hook, true);
    return wrong;
}

/* Takes the shared object at PATH as the moment's binary. */
static const char *begin_object(struct way *way, const char *path) {
    struct binary *object = NULL;
    const char *wrong = binary_open(way->arena, path, &object);
    if (!wrong) {
        way->arrival->binary = object;
        wrong = check_program(object);
    }
    if (!wrong)
        wrong = find_places(way->arena, object, way->name, &way->places);
    if (wrong)
        return arena_print(way->arena, "it is a moment of '%s': %s", path, wrong);
    way->binary = object;
    return begin_binary(way);
}

/* Whether the moment may be of another build of PROGRAM. */
static bool may_be_older(const struct way *way) {
    struct moment_name name = *way->name;
    address_list places = {0};
    name.build = "";
    return !find_places(way->arena, way->program, &name, &places);
}

/* Called at ADDRESS when the loader has loaded objects, or the program begins. Looks for the
 * moment's object. */
static const char *look_for_object(struct way *way, uint64_t address) {
    if (way->binary)
        return NULL;
    const char *path =
        find_object(way->arena, tracee_memory(way->tracee), way->name->build, &way->bias);
    if (path)
        return begin_object(way, path);
    if (address == way->entry && may_be_older(way))
        return arena_print(way->arena, "it is a moment of another build (build id %s...)",
                           way->name->build);
    return NULL;
}

/* Handles a stop of THREAD at ADDRESS. Returns whether it is the moment. Sets *WRONG if the moment
 * was missed. */
static bool take_breakpoint(struct way *way, pid_t thread, uint64_t address, const char **wrong) {
    if (!address) {
        if (thread == way->thread && !way->tracee->is_other)
            end_thread(way);
        return false;
    }
    if (address == way->loader_hook || address == way->entry) {
        *wrong = look_for_object(way, address);
        stop_tracee(way->tracee);
        step_over(way->tracee, thread, address);
        return false;
    }
    if (address == way->thread_hook) {
        begin_thread(way, thread);
        return false;
    }
    if (address == way->near_hook) {
        if (thread == way->thread && way->is_past)
            *wrong = missed(way);
        else if (thread == way->thread && way->is_near)
            pass_moment(way);
        else if (thread == way->thread)
            watch_places(way);
        return false;
    }
    if (thread == way->thread && is_moment(way, address))
        return true;
    stop_tracee(way->tracee);
    step_over(way->tracee, thread, address);
    return false;
}

const char *check_program(const struct binary *binary) {
    if (find_hook(binary, true) && find_hook(binary, false))
        return NULL;
    return binary->cells_size ? "it was not built with '--quipu=moment', or its symbols were "
                                "stripped; build it so and keep them"
                              : "it was not built by 'quipu cc --quipu=moment'";
}

static const char *start_way(struct way *way, char **argv) {
    const char *wrong = start_tracee(way->tracee, argv);
    if (wrong)
        return *wrong ? arena_print(way->arena, "cannot be run under control: %s", wrong) : wrong;
    way->is_random = has_random_addresses(way->tracee);
    stop_at_ends(way->tracee);
    if (way->binary) {
        GElf_Ehdr header;
        gelf_getehdr(way->binary->elf, &header);
        way->bias = program_bias(way->tracee->process, header.e_entry);
        return begin_binary(way);
    }
    uint64_t hook = find_loader_hook(way->arena, way->program);
    way->loader_hook = auxiliary_value(way->tracee->process, AT_BASE) + hook;
    way->entry = auxiliary_value(way->tracee->process, AT_ENTRY);
    put_breakpoint(way->tracee, way->entry, false);
    if (hook)
        put_breakpoint(way->tracee, way->loader_hook, false);
    return NULL;
}

const char *approach(struct arena *arena, struct binary *program, const struct moment_name *name,
                     const address_list *places, char **argv, struct tracee *tracee,
                     struct arrival *arrival) {
    struct way way = {.arena = arena,
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
    const char *wrong = start_way(&way, argv);
    while (!wrong) {
        pid_t thread = run_to_breakpoint(tracee, &address);
        if (!thread)
            return ended(&way);
        if (!take_breakpoint(&way, thread, address, &wrong))
            continue;
        stop_tracee(tracee);
        remove_breakpoints(tracee);
        take_tests_out(tracee_memory(tracee), way.binary, way.bias);
        *arrival = (struct arrival){thread, address - way.bias, way.last, way.bias, way.binary};
        return NULL;
    }
    kill_tracee(tracee);
    return wrong;
}
