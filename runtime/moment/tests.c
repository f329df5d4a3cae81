/* tests.c: the tests of countdowns are put into an executable's text.
 *
 * Mellor-Crummey & LeBlanc 1989 test at each tick.  Most programs that count ticks wait for none,
 * so the shim leaves the tests out (format/moment.h), and they are put in where the
 * program may call quipu_after, here, or where a debugger runs it (src/moment/tests.c).
 *
 * This is done in front of all other constructors, while there is one thread, so nobody executes
 * what changes.  What a debugger has put in stays.
 *
 * Not perfect: threads that a shared object's constructor has started, and that call into the
 * executable already, are not thought of. */
#include "format/moment.h"
#include "runtime/core/note.h"
#include "runtime/core/protection.h"
#include "runtime/event/event.h"

#include "format/jump.h"

#include <errno.h>

extern const struct quipu_test quipu_tests_begin[], quipu_tests_end[];
/* Between them is a byte for each call of quipu_after: include/quipu.h.  (The linker's own
 * __start_quipu_waits would be, where it is missing, another module's, or, hidden, not 0.) */
extern const char quipu_waits_begin[], quipu_waits_end[];

static long missing;

struct stretch {
    uint64_t begin, end;
};

static uint64_t place_of(const struct quipu_test *test) {
    return told_address(&test->place);
}

static uint64_t test_count(void) {
    return section_size(quipu_tests_begin, quipu_tests_end) / sizeof *quipu_tests_begin;
}

static bool is_in(const struct quipu_test *test, struct stretch text) {
    return text.begin <= place_of(test) && place_of(test) < text.end;
}

/* Of TEXT, from the first test to the last; none: begin is not below end. */
static struct stretch tested_part(struct stretch text) {
    struct stretch part = {UINT64_MAX, 0};
    for (const struct quipu_test *test = quipu_tests_begin, *end = test + test_count(); test < end;
         test++) {
        if (!is_in(test, text))
            continue;
        uint64_t first = place_of(test), last = told_address(&test->back);
        part.begin = first < part.begin ? first : part.begin;
        part.end = last > part.end ? last : part.end;
    }
    return part;
}

static void put_in(const struct quipu_test *test) {
    uint64_t jump = place_of(test) + QUIPU_TEST_JUMP;
    encode_jump((volatile uint8_t *)jump, told_address(&test->back) - jump, jump,
                told_address(&test->code));
}

static long put_in_segment(const ElfW(Phdr) * segment, uint64_t bias) {
    struct stretch text = {bias + segment->p_vaddr, bias + segment->p_vaddr + segment->p_memsz};
    struct stretch part = tested_part(text);
    if (part.begin >= part.end)
        return 0;
    long error = protect_code(segment, bias, part.begin, part.end, true);
    if (error < 0)
        return error;
    for (uint64_t i = 0; i < test_count(); i++)
        if (is_in(&quipu_tests_begin[i], text))
            put_in(&quipu_tests_begin[i]);
    return protect_code(segment, bias, part.begin, part.end, false);
}

static int put_in_module(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    if (!module_contains(info, quipu_tests_begin))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum && missing == 0; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            missing = put_in_segment(&info->dlpi_phdr[i], info->dlpi_addr);
    return 1;
}

static bool are_in(void) {
    const uint8_t *first = (const uint8_t *)place_of(quipu_tests_begin);
    return first[QUIPU_TEST_JUMP] == X86_JUMP;
}

void quipu_begin_tests(void) {
    if (test_count() == 0 || are_in())
        return;
    if (section_size(quipu_waits_begin, quipu_waits_end))
        dl_iterate_phdr(put_in_module, NULL);
    else
        missing = -ENOTSUP; /* nobody calls quipu_after, or what an older header made does */
}

long quipu_tests_missing(void) {
    return missing;
}
