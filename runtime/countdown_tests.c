/* countdown_tests.c: the tests of countdowns are put into an executable's text.
 *
 * Mellor-Crummey & LeBlanc 1989 test at each tick.  Most programs that count ticks wait for none,
 * so the shim leaves the tests out (data/format.h, section 3), and they are put in where the
 * program may call quipu_after, here, or where a debugger runs it (src/moment/tests.c).
 *
 * This is done in front of all other constructors, while there is one thread, so nobody executes
 * what changes.  What a debugger has put in stays.
 *
 * Not perfect: threads that a shared object's constructor has started, and that call into the
 * executable already, are not thought of. */
#include "event.h"
#include "syscall.h"

extern const struct quipu_test quipu_tests_begin[], quipu_tests_end[];
/* Between them is a byte for each call of quipu_after: include/quipu.h.  (The linker's own
 * __start_quipu_after would be, where it is missing, another module's, or, hidden, not 0.) */
extern const char quipu_waits_begin[], quipu_waits_end[];

enum {
    JUMP = 0xe9, /* and the distance, from behind it */
    PREFIX = 1,  /* of %gs, which stays: a debugger may have put its breakpoint over it */
    JUMP_SIZE = 5,
    NO_OPERATION = 0x90,
};

static long missing;

static uint64_t place_of(const struct quipu_test *test) {
    return (uint64_t)&test->place + (uint64_t)(int64_t)test->place;
}

static uint64_t code_of(const struct quipu_test *test) {
    return (uint64_t)&test->code + (uint64_t)(int64_t)test->code;
}

static uint64_t back_of(const struct quipu_test *test) {
    return (uint64_t)&test->back + (uint64_t)(int64_t)test->back;
}

static void put_in(const struct quipu_test *test) {
    uint64_t jump = place_of(test) + PREFIX;
    *(volatile uint8_t *)jump = JUMP;
    *(volatile uint32_t *)(jump + 1) = (uint32_t)(code_of(test) - jump - JUMP_SIZE);
    for (uint64_t rest = jump + JUMP_SIZE; rest < back_of(test); rest++)
        *(volatile uint8_t *)rest = NO_OPERATION;
}

static long protect(uint64_t first, uint64_t end, int protection) {
    return SYSTEM_CALL(mprotect, first, end - first, protection, 0, 0, 0);
}

/* Bytes from BEGIN to END.  The compiler takes two objects for two addresses; here they may be one.
 */
static uint64_t distance(const void *begin, const void *end) {
    __asm__("" : "+r"(begin), "+r"(end));
    return (uint64_t)end - (uint64_t)begin;
}

static long put_in_all(const struct quipu_test *tests, uint64_t count) {
    uint64_t first = UINT64_MAX, end = 0;
    for (uint64_t i = 0; i < count; i++) {
        first = place_of(&tests[i]) < first ? place_of(&tests[i]) : first;
        end = back_of(&tests[i]) > end ? back_of(&tests[i]) : end;
    }
    first &= -(uint64_t)QUIPU_PAGE;
    end = round_up(end, QUIPU_PAGE);
    /* this code may lie within */
    long error = protect(first, end, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (error < 0)
        return error;
    for (uint64_t i = 0; i < count; i++)
        put_in(&tests[i]);
    return protect(first, end, PROT_READ | PROT_EXEC);
}

void quipu_begin_tests(void) {
    uint64_t count = distance(quipu_tests_begin, quipu_tests_end) / sizeof(struct quipu_test);
    if (count && distance(quipu_waits_begin, quipu_waits_end) &&
        *(const uint8_t *)(place_of(quipu_tests_begin) + PREFIX) != JUMP)
        missing = put_in_all(quipu_tests_begin, count);
}

long quipu_tests_missing(void) {
    return missing;
}
