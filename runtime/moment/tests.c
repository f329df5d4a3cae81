/* tests.c: inserts the tests of countdowns into an executable's text.
 *
 * Mellor-Crummey & LeBlanc 1989 test at each tick. Most programs that count ticks set no countdown.
 * So the shim leaves the tests out (format/moment.h). They are inserted here, if the program may
 * call quipu_after, or by a debugger that runs it (src/tracee/tests.c).
 *
 * This happens before all other constructors, while there is one thread. So no thread executes the
 * changed instructions meanwhile. Tests that a debugger has inserted stay.
 *
 * Not perfect: a shared object's constructor may have started threads that already call into the
 * executable. This is not handled. */
#include "format/moment.h"
#include "runtime/core/note.h"
#include "runtime/event/event.h"
#include "runtime/patch/patch.h"

#include <errno.h>

extern const struct quipu_test quipu_tests_begin[], quipu_tests_end[];
/* Between them there is a byte for each call of quipu_after: include/quipu.h. (The linker's own
 * __start_quipu_waits cannot be used: if it does not exist here, it would be that of another module
 * or, if hidden, not 0.) */
extern const char quipu_waits_begin[], quipu_waits_end[];

static long missing;

static uint64_t place_of(const struct quipu_test *test) {
    return relative_address(&test->place);
}

static uint64_t test_count(void) {
    return section_size(quipu_tests_begin, quipu_tests_end) / sizeof *quipu_tests_begin;
}

static void put_in(const struct quipu_test *test) {
    uint64_t jump = place_of(test) + QUIPU_TEST_JUMP;
    quipu_patch_instruction(jump, relative_address(&test->back) - jump,
                            relative_address(&test->code));
}

/* Returns 0, or the negative error number. */
static long put_all_in(void) {
    uint64_t first = UINT64_MAX, last = 0;
    for (uint64_t i = 0; i < test_count(); i++) {
        uint64_t place = place_of(&quipu_tests_begin[i]);
        first = place < first ? place : first;
        last = place > last ? place : last;
    }
    long error = quipu_patch_open(first, last + QUIPU_TEST_MOST, true);
    if (error < 0)
        return error;
    for (uint64_t i = 0; i < test_count(); i++)
        put_in(&quipu_tests_begin[i]);
    return quipu_patch_open(first, last + QUIPU_TEST_MOST, false);
}

static bool are_in(void) {
    return is_patched(place_of(quipu_tests_begin) + QUIPU_TEST_JUMP);
}

void quipu_begin_tests(void) {
    if (test_count() == 0 || are_in())
        return;
    if (section_size(quipu_waits_begin, quipu_waits_end))
        missing = put_all_in();
    else
        missing = -ENOTSUP; /* the program does not call quipu_after, or its calls were compiled
                               with an older header */
}

long quipu_tests_missing(void) {
    return missing;
}
