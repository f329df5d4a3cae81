/* history.c: the last writes of what an expression reads; see history.h.
 *
 * As a debugger goes backwards to a watchpoint, the way from the last checkpoint to the present
 * place is gone again, then that from the checkpoint before. Each is gone twice: the first time the
 * writes are counted, and the second time the last ones are described. */
#include "debug/history.h"

#include "debug/lookout.h"
#include "debug/program.h"
#include "debug/target.h"
#include "tracee/tracee.h"

struct history {
    struct timeline *timeline;
    struct arena *arena;
    struct expression expression;
    struct lookout lookout;
    struct past_write *writes;
    size_t wanted, found;
    const char *wrong;
};

static const char *present_value(struct history *history) {
    struct process_memory memory =
        process_memory(timeline_process(history->timeline), program_of(history->timeline)->bias);
    return value_text(history->arena, history->expression.root, &memory.memory);
}

static struct past_write describe(struct history *history, const char *before) {
    const struct lookout *lookout = &history->lookout;
    struct moment moment =
        describe_moment(history->timeline, history->arena, lookout->thread, lookout->instruction);
    return (struct past_write){moment.text, moment.line, before, present_value(history)};
}

/* Goes the way from CHECKPOINT to the target. COUNT becomes the number of writes on it. Those from
 * number SKIPPED on are described, and come to WRITES. */
static enum reached walk(struct history *history, const struct checkpoint *checkpoint,
                         struct target *target, size_t skipped, struct past_write *writes,
                         size_t *count) {
    struct timeline *timeline = history->timeline;
    enum reached reached = REACHED_NOT;
    struct halt halt;
    *count = 0;
    if (!go_to_copy(timeline, &checkpoint->stand))
        return REACHED_NOT;
    lookout_forget(&history->lookout);
    set_stops(timeline, false, 0);
    history->wrong = lookout_watch_expression(&history->lookout, &history->expression);
    const char *before = skipped ? "" : present_value(history);
    while (!history->wrong &&
           (reached = go_to_target(timeline, target, false, &halt)) == REACHED_HALT) {
        if (!lookout_take(&history->lookout, 0))
            continue;
        if (++*count > skipped && writes) {
            *writes = describe(history, before);
            before = writes++->after;
        } else if (*count == skipped) {
            before = present_value(history);
        }
        history->wrong = lookout_watch_expression(&history->lookout, &history->expression);
    }
    return reached;
}

/* The same, with the last writes on the way, as many as are still wanted. */
static enum reached walk_for_last(struct history *history, const struct checkpoint *checkpoint,
                                  struct target *target) {
    size_t count, left = history->wanted - history->found;
    enum reached reached = walk(history, checkpoint, target, SIZE_MAX, NULL, &count);
    if (reached != REACHED || !count)
        return reached;
    size_t taken = count < left ? count : left;
    history->found += taken;
    return walk(history, checkpoint, target, count - taken,
                history->writes + history->wanted - history->found, &count);
}

/* Goes back from ORIGIN, until there are enough. */
static void search(struct history *history, const struct stand *origin) {
    struct timeline *timeline = history->timeline;
    struct target target = {.kind = TARGET_EVENTS};
    const struct checkpoint *from = checkpoint_before(timeline, &origin->place);
    enum reached reached = REACHED;
    set_target(timeline, &target, origin);
    while (from && reached == REACHED && history->found < history->wanted) {
        reached = walk_for_last(history, from, &target);
        set_target(timeline, &target, &from->stand);
        from = checkpoint_before(timeline, &from->stand.place);
    }
    forget_target(&target);
    if (!history->wrong && reached == REACHED_STOP)
        history->wrong = "";
    else if (!history->wrong && reached != REACHED)
        history->wrong = "the place is not found again on the way to it";
}

const char *find_history(struct timeline *timeline, struct arena *arena, const char *text,
                         size_t wanted, struct past_write *writes, size_t *count) {
    struct history history = {
        .timeline = timeline, .arena = arena, .writes = writes, .wanted = wanted};
    const struct variables *variables;
    struct stand origin;
    size_t where;
    const char *wrong = program_variables(timeline, &variables);
    if (!wrong)
        wrong = parse_expression(arena, variables, text, &history.expression, &where);
    if (wrong)
        return wrong;
    pid_t shown = timeline->moment_thread;
    take_points_out(timeline);
    struct points *users = points_put_aside(&timeline->points);
    lookout_begin(&history.lookout, timeline);
    timeline->pinned = timeline->here.base;
    take_here(timeline, &origin);
    search(&history, &origin);
    lookout_end(&history.lookout);
    points_put_back(&timeline->points, users);
    go_to_stand(timeline, &origin);
    timeline->pinned = NULL;
    timeline->moment_thread = shown;
    *count = history.found;
    for (size_t i = 0; i < history.found; i++)
        writes[i] = writes[wanted - history.found + i];
    return history.wrong;
}
