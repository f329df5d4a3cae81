/* moment.c: the software instruction counter of each thread: its countdown, and moments by name.
 *
 * Mellor-Crummey & LeBlanc 1989.  Ticks are counted by Ball's increments like any event
 * (event/event.c); its cells start below zero, and inserted code comes here when one no longer is
 * negative.  What is left to the nearest of the alarms and of a debugger's countdown is divided
 * among the cells: no tick of it can be passed before one of them has ended, and then the rest is
 * divided anew.  So the nearest is met exactly, after some thousands of rounds at most.  Readers
 * add `base`.
 *
 * Invariants
 *   - cells + base, modulo 1 << 64, is what the slot's threads have counted, whatever the
 * countdown.
 *   - The countdown changes with signals blocked, so no handler sees one of both changed.
 * Nothing here calls the C library, but the program's own handler. */
#include "format/moment.h"
#include "format/event.h"
#include "runtime/core/syscall.h"
#include "runtime/event/event.h"

#include <errno.h>

enum {
    TICKS = QUIPU_EVENT_TICKS,
    CALL_SIZE = 10,  /* leaq -128(%rsp), %rsp and the call of quipu_end_countdown */
    RETURN_SIZE = 8, /* leaq 128(%rsp), %rsp behind it ... */
    JUMP_SIZE = 5,   /* ... and then the jump back: its last four bytes are the distance */
    TEST_NEAR = 6,   /* jns or js: two bytes and four of distance ... */
    TEST_SHORT = 2,  /* ... or one and one */
};

#define FAR ((uint64_t)1 << 59)

/* A program refers to these weakly, which takes nothing out of the archive.  But a linker may have
 * other reasons to (mold: a shared object refers to one of these weakly), so they ask whether ticks
 * are counted. */
__attribute__((used)) static const void *const others[] = {quipu_runtime_print,
                                                           quipu_runtime_parse};

void quipu_countdown_ended(uint64_t stub);
void quipu_runtime_now(struct quipu_moment *moment);
void quipu_moment_at(uint64_t address, uint64_t *ticks, uint32_t *thread);
int quipu_runtime_after(uint64_t ticks, uint64_t handler, uint64_t argument);
/* countdown.S */
void quipu_call_handler(uint64_t handler, const struct quipu_moment *moment, uint64_t argument);
void quipu_moment_thread(struct event_block *block);
void quipu_moment_near(struct event_block *block);

static uint64_t *tick_cells(struct event_block *block) {
    return &block->cells[quipu_first_cell(TICKS)];
}

/* Sets the countdown to the nearest of what is waited for.  Signals are blocked. */
static void set_countdown(struct event_block *block) {
    uint64_t now = count_in(block, TICKS),
             nearest = block->countdown_end ? block->countdown_end : UINT64_MAX;
    for (int i = 0; i < QUIPU_EVENT_ALARMS; i++)
        if (block->alarms[i].handler && block->alarms[i].target < nearest)
            nearest = block->alarms[i].target;
    uint64_t share = nearest > now ? (nearest - now) / QUIPU_MANY_LANES : 0;
    if (share > FAR)
        share = FAR;
    block->base += sum_lanes(block, TICKS) + QUIPU_MANY_LANES * share;
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        tick_cells(block)[lane] = -share;
}

static uint64_t threads;

/* In a forked child the cells are zero, and its one thread is the first. */
static struct event_block *numbered_block(void) {
    struct event_block *block = own_block();
    if (!block->thread)
        threads = block->thread = 1;
    return block;
}

void quipu_begin_ticks(struct event_block *block) {
    block->thread = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    block->begin = sum_lanes(block, TICKS) + block->base;
    block->countdown_end = 0;
    for (int i = 0; i < QUIPU_EVENT_ALARMS; i++)
        block->alarms[i].handler = 0;
    quipu_moment_thread(block); /* a debugger may set its end */
    set_countdown(block);
}

/* Takes the alarm out that has been due for longest at TICKS. */
static struct alarm take_alarm(struct event_block *block, uint64_t ticks) {
    struct alarm due = {0}, *first = NULL;
    for (int i = 0; i < QUIPU_EVENT_ALARMS; i++) {
        struct alarm *alarm = &block->alarms[i];
        if (alarm->handler && alarm->target <= ticks && (!first || alarm->target < first->target))
            first = alarm;
    }
    if (first) {
        due = *first;
        first->handler = 0;
    }
    return due;
}

/* The address behind a direct jump's last four bytes, which are at TEXT, plus what they say. */
static const uint8_t *jump_target(const uint8_t *text) {
    return text + 4 + *(const int32_t *)text;
}

/* The test whose code out of line calls from STUB stands in front of where that jumps back to: a
 * jump behind an addition, or one that was put over an addition.  Nobody comes by there again after
 * the handler.  A breakpoint may hide the first byte. */
static uint64_t place_of_test(uint64_t stub) {
    const uint8_t *slow = (const uint8_t *)stub - CALL_SIZE;
    const uint8_t *back = jump_target((const uint8_t *)stub + RETURN_SIZE + JUMP_SIZE - 4);
    if (jump_target(back - 4) == slow)
        return (uint64_t)back - TEST_NEAR;
    for (int size = QUIPU_TEST_LEAST; size <= QUIPU_TEST_MOST; size++) {
        const uint8_t *code =
            jump_target(back - size + QUIPU_TEST_JUMP + 1); /* its opcode is one */
        if (code + size + TEST_NEAR == slow)
            return (uint64_t)back - size;
    }
    return (uint64_t)back - TEST_SHORT;
}

/* Calls the handler.  What it counts itself begins with the ticks of the interrupted place, so what
 * those are above the cells is lent to the base meanwhile.  Its return is one tick more: it may
 * have called the function that it interrupted, whose instructions behind the test run then once
 * more. */
static void call_handler(struct event_block *block, const struct alarm *alarm,
                         const struct quipu_moment *moment, uint64_t above) {
    block->base += above;
    quipu_call_handler(alarm->handler, moment, alarm->argument);
    block->base += 1 - above;
}

void quipu_countdown_ended(uint64_t stub) {
    uint64_t mask = block_signals();
    struct event_block *block = numbered_block();
    struct quipu_moment moment = {.address = place_of_test(stub), .instrumented = 1};
    uint64_t above = (uint64_t)quipu_sum_of(stub, 0, TICKS); /* additions change no sum */
    moment.ticks = count_in(block, TICKS) + above;
    moment.thread = (uint32_t)block->thread;
    if (block->countdown_end && block->countdown_end <= count_in(block, TICKS)) {
        block->countdown_end = 0;
        quipu_moment_near(block);
    }
    struct alarm due = take_alarm(block, moment.ticks);
    set_countdown(block);
    restore_signals(mask);
    while (due.handler) {
        call_handler(block, &due, &moment, above);
        mask = block_signals();
        due = take_alarm(block, moment.ticks);
        set_countdown(block);
        restore_signals(mask);
    }
}

void quipu_runtime_now(struct quipu_moment *moment) {
    if (!quipu_is_counted(TICKS))
        return;
    const struct event_block *block = numbered_block();
    moment->ticks = count_in(block, TICKS);
    moment->address = (uint64_t)__builtin_return_address(0);
    moment->thread = (uint32_t)block->thread;
    moment->instrumented = 1;
}

/* A handler may run between two cells that are read: then both sums differ. */
void quipu_moment_at(uint64_t address, uint64_t *ticks, uint32_t *thread) {
    if (!quipu_is_counted(TICKS))
        return;
    const struct event_block *block = numbered_block();
    uint64_t now = count_in(block, TICKS), before;
    do {
        before = now;
        __asm__ volatile("" : : : "memory");
        now = count_in(block, TICKS);
    } while (now != before);
    *ticks = now + (uint64_t)quipu_sum_of(address, 0, TICKS);
    *thread = (uint32_t)block->thread;
}

int quipu_runtime_after(uint64_t ticks, uint64_t handler, uint64_t argument) {
    if (!quipu_is_counted(TICKS))
        return -ENOSYS;
    struct event_block *block = own_block();
    long missing = quipu_tests_missing();
    if (missing < 0)
        return (int)missing;
    uint64_t mask = block_signals();
    int slot = 0;
    while (slot < QUIPU_EVENT_ALARMS && block->alarms[slot].handler)
        slot++;
    if (slot < QUIPU_EVENT_ALARMS) {
        block->alarms[slot] =
            (struct alarm){count_in(block, TICKS) + (ticks ? ticks : 1), handler, argument};
        set_countdown(block);
    }
    restore_signals(mask);
    return slot < QUIPU_EVENT_ALARMS ? 0 : -EAGAIN;
}
