/* tests.c: the tests of countdowns in a program that runs under our control.
 *
 * Mellor-Crummey & LeBlanc 1989 test at each tick.  The shim leaves the tests out of executables,
 * for most runs wait for no tick (data/format.h, section 3); goto and when do, and put them in
 * before the program begins, over additions, as jumps to code that is there already.
 *
 * What lies between the first and the last is read, changed and written at once: a write for each
 * would take seconds of a large program. */
#include "moment/tests.h"

#include "data/format.h"
#include "x86/jump.h"

#include <stdlib.h>
#include <string.h>

enum {
    ADDITION_LEAST = 8, /* bytes */
    ADDITION_MOST = 12
};

struct test {
    uint64_t place, code, back;
};

/* Row NUMBER of ROWS, which lie at address AT. */
static struct test read_test(const uint8_t *rows, uint64_t at, size_t number) {
    struct quipu_test row;
    uint64_t here = at + number * sizeof row;
    memcpy(&row, rows + number * sizeof row, sizeof row);
    return (struct test){here + offsetof(struct quipu_test, place) + (uint64_t)(int64_t)row.place,
                         here + offsetof(struct quipu_test, code) + (uint64_t)(int64_t)row.code,
                         here + offsetof(struct quipu_test, back) + (uint64_t)(int64_t)row.back};
}

static bool is_sound(const struct binary *binary, const struct test *test) {
    size_t room, more;
    return binary_code(binary, test->place, &room) && test->back - test->place >= ADDITION_LEAST &&
           test->back - test->place <= ADDITION_MOST && test->back - test->place <= room &&
           binary_code(binary, test->code, &more);
}

const char *put_tests(const struct tracee *tracee, const struct binary *binary, uint64_t bias) {
    size_t size;
    const uint8_t *rows = binary_section(binary, QUIPU_TESTS_SECTION, &size);
    uint64_t at = binary_section_address(binary, QUIPU_TESTS_SECTION);
    size_t count = rows ? size / sizeof(struct quipu_test) : 0;
    uint64_t first = UINT64_MAX, end = 0;
    for (size_t i = 0; i < count; i++) {
        struct test test = read_test(rows, at, i);
        if (!is_sound(binary, &test))
            return "its table of tests of countdowns is damaged; build it anew";
        first = test.place < first ? test.place : first;
        end = test.back > end ? test.back : end;
    }
    if (!count)
        return NULL;
    uint8_t *text = malloc(end - first);
    bool good = text && read_tracee(tracee, first + bias, text, end - first);
    for (size_t i = 0; i < count && good; i++) {
        struct test test = read_test(rows, at, i);
        encode_jump(text + (test.place - first), test.back - test.place, test.place, test.code);
    }
    good = good && write_tracee(tracee, first + bias, text, end - first);
    free(text);
    return good ? NULL : "its tests of countdowns cannot be put in: its text cannot be written";
}
