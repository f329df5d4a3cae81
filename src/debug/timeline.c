/* timeline.c: goes forwards on the time line, from halt to halt; see timeline.h. */
#include "debug/timeline.h"

#include "debug/call_site.h"
#include "debug/memory_bound.h"

#include "tracee/tracee.h"
#include "util/clock.h"
#include "x86/kernel.h"
#include "x86/registers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    TICK_MICROSECONDS = 20000,
    MICROSECONDS = 1000000,
    OUTPUT_MAX = 64 << 20 /* bytes of output that are kept */
};

/* In seconds: the user is asked so often, where the process stops more often. */
static const double asking_interval = 0.02;

pid_t timeline_process(const struct timeline *timeline) {
    return player_process(timeline->player);
}

/* ---- the timer ---- */

/* First after FIRST microseconds, and then each INTERVAL. */
static void set_timer(uint64_t first, uint64_t interval) {
    const struct itimerval timer = {
        {(time_t)(interval / MICROSECONDS), (suseconds_t)(interval % MICROSECONDS)},
        {(time_t)(first / MICROSECONDS), (suseconds_t)(first % MICROSECONDS)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void set_alarm(struct timeline *timeline, double seconds) {
    uint64_t first = (uint64_t)(seconds * MICROSECONDS);
    timeline->until = seconds > 0 ? clock_seconds() + seconds : 0;
    set_timer(first ? first : TICK_MICROSECONDS, TICK_MICROSECONDS);
}

void begin_motion(struct timeline *timeline) {
    timeline->stopping = false;
    progress_begin(&timeline->progress);
    timeline->moment_thread = 0;
    points_look(&timeline->points, timeline_process(timeline));
    set_timer(TICK_MICROSECONDS, TICK_MICROSECONDS);
}

/* Returns the thread in which points are inserted; another one of its process, if that has ended.
 */
static pid_t thread_with_points(const struct timeline *timeline) {
    pid_t recorded, number;
    size_t at = 0;
    while (player_next_thread(timeline->player, &at, &recorded, &number))
        if (number == timeline->inserted_in)
            return number;
    return timeline_process(timeline);
}

void take_points_out(struct timeline *timeline) {
    if (timeline->inserted_in)
        points_take_out(&timeline->points, thread_with_points(timeline));
    timeline->inserted_in = 0;
}

void set_stops(struct timeline *timeline, bool ignores_points, uint64_t extra) {
    if (timeline->ignores_points == ignores_points && timeline->extra == extra)
        return;
    take_points_out(timeline);
    timeline->ignores_points = ignores_points;
    timeline->extra = extra;
}

void end_motion(struct timeline *timeline) {
    set_timer(0, 0);
    progress_end(&timeline->progress);
    take_points_out(timeline);
    set_stops(timeline, false, 0);
    timeline->until = 0;
}

/* Whether a wait is to end: the user wants a stop, or the time has come. */
static bool is_interrupted(void *context) {
    struct timeline *timeline = context;
    timeline->asked = clock_seconds();
    progress_tell(&timeline->progress, player_events(timeline->player));
    if (timeline->is_interrupted && timeline->is_interrupted(timeline->context))
        timeline->stopping = true;
    return timeline->stopping || (timeline->until > 0 && timeline->asked >= timeline->until);
}

/* ---- output ---- */

static void write_output(void *context, int stream, const void *bytes, size_t size) {
    struct timeline *timeline = context;
    uint64_t events = player_events(timeline->player);
    if (events < timeline->shown)
        return;
    timeline->shown = events + 1;
    if (timeline->text.count + size < OUTPUT_MAX) {
        struct output output = {events, timeline->text.count, size};
        vector_push(timeline->arena, &timeline->outputs, output);
        buffer_add(&timeline->text, bytes, size);
    }
    write_whole(stream, bytes, size);
}

/* ---- halts ---- */

static void prepare_others(void *context) {
    notice_program(context);
    take_points_out(context);
}

static bool is_breakpoint(void *context, uint64_t address) {
    struct timeline *timeline = context;
    return timeline->inserted_in && points_inserted(&timeline->points, address);
}

void notice_program(struct timeline *timeline) {
    uint64_t program = player_program_begin(timeline->player);
    if (program == timeline->program)
        return;
    timeline->program = program;
    points_forget(&timeline->points);
    timeline->inserted_in = 0;
}

static bool catches(void *context, uint64_t number) {
    struct timeline *timeline = context;
    timeline->call = number;
    return !timeline->ignores_points && catches_call(&timeline->calls, number);
}

bool has_returned(const struct timeline *timeline, struct halt *halt) {
    uint64_t number;
    bool executed = timeline->program && timeline->program == timeline->here.events;
    if (executed || !is_slice_begin(&timeline->here) || timeline->ignores_points ||
        !player_call(timeline->player, &number) || !catches_call(&timeline->calls, number))
        return false;
    *halt = (struct halt){.kind = HALT_RETURN, .call = number};
    return true;
}

static bool watches(const struct timeline *timeline) {
    return !timeline->ignores_points && points_watch(&timeline->points);
}

/* Whether what an instruction has ACCESSED is a hit. */
static bool is_read(const struct point *accessed) {
    return accessed && (accessed->kind == POINT_ACCESS || !accessed->has_changed);
}

static void insert_points(struct timeline *timeline) {
    pid_t process = timeline_process(timeline);
    if (timeline->inserted_in == process)
        return;
    take_points_out(timeline); /* another thread's debug registers */
    if (timeline->ignores_points)
        points_insert_one(&timeline->points, process, timeline->extra);
    else
        points_insert(&timeline->points, process, timeline->extra);
    timeline->inserted_in = process;
}

static void note_move(struct timeline *timeline) {
    uint64_t number, events = timeline->here.events;
    size_t count = timeline->moves.count;
    if (player_call(timeline->player, &number) && number == SYS_mremap &&
        (count == 0 || timeline->moves.data[count - 1] < events))
        vector_push(timeline->arena, &timeline->moves, events);
}

/* Returns the number of the signal that comes next. */
static int note_signal(struct timeline *timeline) {
    uint8_t info[QUIPU_SIGINFO_SIZE];
    struct met_signal met = {timeline->here.events, player_signal(timeline->player, info)};
    size_t count = timeline->signals.count;
    if (count == 0 || timeline->signals.data[count - 1].events < met.events)
        vector_push(timeline->arena, &timeline->signals, met);
    return met.number;
}

bool stops_at_signal(const struct timeline *timeline, int number) {
    return number < 1 || !(timeline->passed_signals >> (number - 1) & 1);
}

bool is_hit(const struct timeline *timeline, const struct halt *halt) {
    return was_asked_for(halt->kind) || (halt->kind == HALT_SIGNAL && !timeline->ignores_points &&
                                         stops_at_signal(timeline, halt->signal));
}

/* What a pause of the player is, where nothing that is watched has changed. */
static struct halt halt_at(struct timeline *timeline, enum play_pause pause) {
    struct place *here = &timeline->here;
    struct halt halt = {.kind = HALT_END};
    uint64_t address = 0;
    notice_program(timeline);
    switch (pause) {
    case PAUSE_EVENT:
        *here = (struct place){.events = player_events(timeline->player)};
        if (player_has_mapped(timeline->player))
            take_points_out(timeline); /* there may be other code at their addresses */
        note_move(timeline);
        halt.kind = HALT_EVENT;
        break;
    case PAUSE_STEP:
        here->steps += here->steps != STEPS_UNKNOWN;
        address = next_instruction(timeline_process(timeline));
        halt.kind = HALT_STEP;
        break;
    case PAUSE_BREAKPOINT:
        here->steps = STEPS_UNKNOWN;
        address = next_instruction(timeline_process(timeline));
        halt.kind = HALT_STEP; /* no condition holds */
        break;
    case PAUSE_WRITE:
        here->steps = STEPS_UNKNOWN;
        halt.kind = HALT_STEP;
        break;
    case PAUSE_CALL:
        here->steps = STEPS_UNKNOWN;
        here->at_call = true;
        halt = (struct halt){.kind = HALT_CALL, .call = timeline->call};
        break;
    case PAUSE_TICK:
        here->steps = STEPS_UNKNOWN;
        halt.kind = HALT_TIMER;
        break;
    case PAUSE_INTERRUPTED:
        here->steps = STEPS_UNKNOWN;
        halt.kind = timeline->stopping ? HALT_INTERRUPT : HALT_TIMER;
        break;
    case PAUSE_SIGNAL:
        here->steps = STEPS_UNKNOWN;
        here->at_signal = true;
        halt = (struct halt){.kind = HALT_SIGNAL, .signal = note_signal(timeline)};
        break;
    case PAUSE_ENDED:
        *here = (struct place){.events = player_events(timeline->player), .ended = true};
        break;
    }
    if (address && !timeline->ignores_points)
        halt.point = points_hit(&timeline->points, address, timeline_process(timeline));
    if (address && (halt.point || address == timeline->extra))
        halt.kind = HALT_POINT;
    return halt;
}

const struct point *point_here(const struct timeline *timeline) {
    player_select(timeline->player);
    pid_t process = timeline_process(timeline);
    return timeline->ignores_points
               ? NULL
               : points_hit(&timeline->points, next_instruction(process), process);
}

/* Whether the process is in front of a call that is caught, and that was not told of. HALT becomes
 * that. Where instructions are stepped, the player does not pause there. */
static bool comes_to_call(struct timeline *timeline, struct halt *halt) {
    struct user_regs_struct registers;
    pid_t process = timeline_process(timeline);
    if (timeline->here.at_call || !catches_some(&timeline->calls) ||
        !get_general_registers(process, &registers) || !is_call_site(process, registers.rip) ||
        !catches_call(&timeline->calls, registers.rax))
        return false;
    timeline->here.at_call = true;
    *halt = (struct halt){.kind = HALT_CALL, .call = registers.rax};
    return true;
}

/* Goes on to the next pause of the player. */
static enum play_pause go_once(struct timeline *timeline, bool step) {
    double begun = clock_seconds();
    if (step)
        take_points_out(timeline);
    else
        insert_points(timeline);
    timeline->here.at_signal = timeline->here.at_call = false;
    enum play_pause pause = player_go(timeline->player, step);
    timeline->clock += (uint64_t)((clock_seconds() - begun) * MICROSECONDS);
    return pause;
}

/* Returns the watchpoint that the PAUSE is a hit of, or NULL. ACCESSED: the one that the
 * instruction, which was stepped, accesses. */
static const struct point *written_at(struct timeline *timeline, enum play_pause pause,
                                      bool stepped, const struct point *accessed) {
    const struct point *changed = NULL;
    if (!watches(timeline))
        return NULL;
    if (pause != PAUSE_ENDED)
        changed = points_changed(&timeline->points, timeline_process(timeline));
    if (pause == PAUSE_WRITE && !stepped)
        accessed = points_written(&timeline->points, player_written(timeline->player));
    if (!changed && (pause == PAUSE_STEP || pause == PAUSE_WRITE) && is_read(accessed))
        changed = accessed;
    return changed;
}

/* Behind an event or a step, HALT becomes another one where the user wants a stop, or the time has
 * come. */
static void ask_for_stop(struct timeline *timeline, struct halt *halt) {
    if ((halt->kind == HALT_EVENT || halt->kind == HALT_STEP) &&
        clock_seconds() - timeline->asked > asking_interval && is_interrupted(timeline))
        halt->kind = timeline->stopping ? HALT_INTERRUPT : HALT_TIMER;
}

struct halt advance(struct timeline *timeline, bool step) {
    player_select(timeline->player);
    bool looks = watches(timeline);
    if (!step && looks && points_need_steps(&timeline->points)) {
        const struct point *point = point_here(timeline);
        if (point ||
            next_instruction(timeline_process(timeline)) == timeline->extra) /* not inserted */
            return (struct halt){.kind = HALT_POINT, .point = point};
        struct halt call;
        if (comes_to_call(timeline, &call))
            return call;
        step = true;
    }
    bool over = step;
    for (;;) {
        uint64_t steps = timeline->here.steps;
        const struct point *accessed = NULL;
        if (looks && over)
            accessed = points_next_access(&timeline->points, timeline_process(timeline));
        enum play_pause pause = go_once(timeline, over);
        struct halt halt = halt_at(timeline, pause);
        if (pause == PAUSE_SIGNAL && over)
            timeline->here.steps = steps; /* it has not gone on */
        const struct point *changed = written_at(timeline, pause, over, accessed);
        if (changed)
            return (struct halt){.kind = HALT_WATCH, .point = changed};
        if (pause == PAUSE_EVENT && has_returned(timeline, &halt))
            return halt;
        if (pause == PAUSE_WRITE && looks && timeline->each_write)
            return (struct halt){.kind = HALT_WATCH};
        bool passes = pause == PAUSE_BREAKPOINT && halt.kind == HALT_STEP;
        bool is_over = over && !step && pause == PAUSE_STEP && halt.kind == HALT_STEP;
        over = step || passes; /* by one step over the breakpoint, and on */
        if (pause == PAUSE_WRITE || passes)
            continue; /* it wrote what was there, or no condition holds */
        ask_for_stop(timeline, &halt);
        if (!is_over || halt.kind != HALT_STEP)
            return halt;
    }
}

/* ---- begin and end ---- */

/* The timer's, and that of a stop: the player waits for them. */
static void block_signals(int how) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(how, &signals, NULL);
}

const char *timeline_begin(struct timeline *timeline, struct arena *arena, const char *path,
                           const char *process, uint64_t memory) {
    timeline->arena = arena;
    timeline->path = path;
    timeline->memory = memory ? memory : usual_memory();
    timeline->hooks = (struct play_hooks){.context = timeline,
                                          .write_output = write_output,
                                          .is_breakpoint = is_breakpoint,
                                          .catches = catches,
                                          .prepare_others = prepare_others,
                                          .is_interrupted = is_interrupted};
    timeline->points.has_registers = has_debug_registers();
    const char *wrong =
        find_process(arena, path, process, &timeline->hooks.path, &timeline->hooks.begin);
    if (wrong)
        return wrong;
    block_signals(SIG_BLOCK);
    wrong = player_begin(arena, path, &timeline->hooks, &timeline->player);
    if (wrong)
        return wrong;
    if (!keep_here(timeline)) {
        player_end(timeline->player);
        return "no checkpoint can be made";
    }
    return NULL;
}

void timeline_end(struct timeline *timeline) {
    for (size_t i = 0; i < timeline->count; i++) {
        drop_stand(&timeline->checkpoints[i]->stand);
        free(timeline->checkpoints[i]);
    }
    timeline->count = 0;
    points_clear(&timeline->points);
    buffer_release(&timeline->text);
    player_end(timeline->player);
    signal(SIGALRM, SIG_IGN); /* one may be pending */
    block_signals(SIG_UNBLOCK);
}
