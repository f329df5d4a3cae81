/* moment.c: the software instruction counter as a feature of the shim (Mellor-Crummey and LeBlanc
 * 1989).
 *
 * Ticks are a kind of event, and are counted like the others (event/). This file adds the table of
 * the tests that are left out until a countdown is wanted (format/moment.h). The rows of each code
 * section are in its group. A relocation at the function keeps them in the link. */
#include "pass/moment/moment.h"

#include "format/moment.h"
#include "pass/feature.h"
#include "pass/plan.h"
#include "x86/sequence.h"

static void write_tests_of(struct planner *p, uint32_t number, size_t f) {
    bool entered = false;
    for (size_t i = 0; i < p->countdown_tests.count; i++) {
        const struct countdown_test *test = &p->countdown_tests.data[i];
        if (test->fragment != f)
            continue;
        if (!entered)
            enter_rows(p->state, p->graph->function, number, f, QUIPU_TESTS_SECTION);
        entered = true;
        write_test_row(&p->state->tail, test->label);
    }
}

static void write_tests(struct planner *p, uint32_t number) {
    for (size_t f = 0; f < p->graph->function->fragments.count; f++)
        write_tests_of(p, number, f);
}

static bool is_on(const struct pass_options *options) {
    return event_mask(&options->events) >> QUIPU_EVENT_TICKS & 1;
}

const struct feature moment_feature = {
    .name = "moment",
    .is_on = is_on,
    .write_note = write_tests,
};
