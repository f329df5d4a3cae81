/* tests.c: the tests of countdowns in a program under our control.
 *
 * Mellor-Crummey & LeBlanc 1989 test at each tick. The shim leaves the tests out of executables,
 * because most runs wait for no tick (format/moment.h). quipu goto and quipu when need them. They
 * insert them before the program begins: a jump over each addition, to code that is already there.
 *
 * The text from the first test to the last is read, changed and written as a whole. One write for
 * each test would take seconds in a large program. */
#include "tracee/tests.h"

#include "format/jump.h"
#include "format/moment.h"
#include "tracee/tracee.h"

#include <string.h>

/* Returns row NUMBER of ROWS, which are at address AT. */
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
    return binary_code(binary, test->place, &room) &&
           test->back - test->place >= QUIPU_TEST_LEAST &&
           test->back - test->place <= QUIPU_TEST_MOST && test->back - test->place <= room &&
           binary_code(binary, test->code, &more);
}

const char *read_tests(struct arena *arena, const struct binary *binary, test_list *tests) {
    size_t size;
    const uint8_t *rows = binary_section(binary, QUIPU_TESTS_SECTION, &size);
    uint64_t at = binary_section_address(binary, QUIPU_TESTS_SECTION);
    for (size_t i = 0; rows && i < size / sizeof(struct quipu_test); i++) {
        struct test test = read_test(rows, at, i);
        if (!is_sound(binary, &test))
            return "its table of tests of countdowns is damaged; build it anew";
        vector_push(arena, tests, test);
    }
    return NULL;
}

static void change_place(const struct binary *binary, const struct test *test, uint8_t *text,
                         bool tested) {
    size_t size = test->back - test->place, room;
    if (tested)
        encode_jump(text + QUIPU_TEST_JUMP, size - QUIPU_TEST_JUMP, test->place + QUIPU_TEST_JUMP,
                    test->code);
    else
        memcpy(text, binary_code(binary, test->place, &room), size);
}

/* TESTED: insert the tests; otherwise remove them. Returns NULL or a message. */
static const char *change_text(pid_t process, const struct binary *binary, uint64_t bias,
                               bool tested) {
    struct arena arena = {0};
    test_list tests = {0};
    const char *wrong = read_tests(&arena, binary, &tests);
    uint64_t first = UINT64_MAX, end = 0;
    for (size_t i = 0; i < tests.count; i++) {
        first = tests.data[i].place < first ? tests.data[i].place : first;
        end = tests.data[i].back > end ? tests.data[i].back : end;
    }
    if (!wrong && tests.count) {
        size_t size = end - first;
        uint8_t *text = arena_alloc(&arena, size);
        bool good = read_memory(process, first + bias, text, size);
        for (size_t i = 0; i < tests.count && good; i++)
            change_place(binary, &tests.data[i], text + (tests.data[i].place - first), tested);
        if (!good || !write_memory(process, first + bias, text, size))
            wrong = "its tests of countdowns cannot be put in: its text cannot be written";
    }
    arena_release(&arena);
    return wrong;
}

const char *put_tests(pid_t process, const struct binary *binary, uint64_t bias) {
    return change_text(process, binary, bias, true);
}

void take_tests_out(pid_t process, const struct binary *binary, uint64_t bias) {
    size_t calls;
    if (!binary_section(binary, QUIPU_WAITS_SECTION, &calls) || !calls)
        change_text(process, binary, bias, false); /* if this fails, they stay and do no harm */
}
