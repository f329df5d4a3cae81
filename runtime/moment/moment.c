/* moment.c: the software instruction counter of each thread: its countdown, and the names of
 * moments.
 *
 * Source: Mellor-Crummey & LeBlanc 1989. Ball's increments count ticks like any event
 * (event/event.c). Their cells are negative at first. Inserted code calls this file when one is no
 * longer negative. The ticks that remain until the nearest alarm, or until the end of a debugger's
 * countdown, are divided among the cells. Before that many ticks have passed, one of the cells
 * reaches 0. Then the remaining ticks are divided again. So the nearest end is met exactly, after
 * at most some thousands of rounds. Readers add `base`.
 *
 * Invariants
 *   - cells + base, modulo 1 << 64, is the count of the slot's threads. It does not depend on the
 *     countdown.
 *   - The countdown changes with signals blocked, so no handler sees only one of both changed.
 *
 * Nothing here calls the C library. Only the program's own handler may. */
#include "format/moment.h"
#include "format/event.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/event/event.h"

#include <errno.h>

enum {
    TICKS = QUIPU_EVENT_TICKS,
    CALL_SIZE = 10,  /* leaq -128(%rsp), %rsp and the call of quipu_end_countdown */
    RETURN_SIZE = 8, /* leaq 128(%rsp), %rsp behind the call ... */
    JUMP_SIZE = 5,   /* ... and then the jump back: its last four bytes are the distance */
    TEST_SHORT = 2,  /* jns or js: one byte, and one for the distance */
};

#define FAR ((uint64_t)1 << 59)

/* A program refers to these weakly, which takes nothing from the archive. But some linkers take
 * this file for other reasons (mold: if a shared object has such a weak reference). So the
 * functions test whether ticks are counted. */
__attribute__((used)) static const void *const others[] = {quipu_runtime_print,
                                                           quipu_runtime_parse};

void quipu_countdown_ended(uint64_t stub);
void quipu_runtime_now(struct quipu_moment *moment);
void quipu_moment_at(uint64_t address, uint64_t *ticks, uint32_t *thread);
int quipu_runtime_after(uint64_t ticks, uint64_t handler, uint64_t argument);
/* countdown.S */
void quipu_moment_thread(struct event_block *block);
void quipu_moment_near(struct event_block *block);

static uint64_t *tick_cells(struct event_block *block) {
    return &block->cells[quipu_first_cell(TICKS)];
}

/* Sets the countdown to the nearest alarm or debugger's end. Signals must be blocked. */
static void divide_countdown(struct event_block *block) {
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

/* In a forked child the cells are zero, and its only thread becomes the first one. */
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
    quipu_moment_thread(block); /* a debugger may set the countdown's end */
    divide_countdown(block);
    if (IS_LINKED(quipu_trace_count_thread))
        quipu_trace_count_thread((uint32_t)block->thread);
}

bool quipu_own_ticks(uint64_t *ticks, uint32_t *thread) {
    uint64_t distance = *own_bias();
    if (distance == QUIPU_UNATTACHED || !quipu_is_counted(TICKS))
        return false;
    const struct event_block *block = own_block();
    *ticks = count_in(block, TICKS);
    *thread = (uint32_t)block->thread;
    return true;
}

void quipu_add_early_ticks(void) {
    divide_countdown(own_block());
}

/* Removes and returns the alarm that has been due for longest at TICKS. */
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

/* The four bytes at TEXT are the last ones of a direct jump. Returns its target. */
static const uint8_t *jump_target(const uint8_t *text) {
    return text + 4 + *(const int32_t *)text;
}

/* Returns the address of the test whose code out of line makes a call that returns to STUB. The
 * test is directly before the address to which that code jumps back. It is a jump behind an
 * addition, or a jump that replaces an addition. Control does not pass it again after the handler.
 * A breakpoint may hide its first byte. */
static uint64_t place_of_test(uint64_t stub) {
    const uint8_t *slow = (const uint8_t *)stub - CALL_SIZE;
    const uint8_t *back = jump_target((const uint8_t *)stub + RETURN_SIZE + JUMP_SIZE - 4);
    if (jump_target(back - 4) == slow)
        return (uint64_t)back - QUIPU_TEST_BRANCH;
    for (int size = QUIPU_TEST_LEAST; size <= QUIPU_TEST_MOST; size++) {
        const uint8_t *code =
            jump_target(back - size + QUIPU_TEST_JUMP + 1); /* its opcode is one byte */
        if (code + size + QUIPU_TEST_BRANCH == slow)
            return (uint64_t)back - size;
    }
    return (uint64_t)back - TEST_SHORT;
}

/* Calls the handler. The handler's own ticks must follow those of the interrupted instruction. So
 * ABOVE, the ticks there that are not in the cells, is in the base meanwhile. The handler's return
 * adds one tick. Otherwise moments could repeat: the handler may have called the interrupted
 * function, whose instructions behind the test then run again. */
static void call_handler(struct event_block *block, const struct alarm *alarm,
                         const struct quipu_moment *moment, uint64_t above) {
    block->base += above;
    quipu_call_handler(alarm->handler, moment, alarm->argument);
    block->base += 1 - above;
}

void quipu_countdown_ended(uint64_t stub) {
    uint64_t mask = block_signals();
    if (quipu_state.phase == PHASE_NEW) { /* static cells: no thread has any yet */
        divide_countdown(own_block());
        restore_signals(mask);
        return;
    }
    struct event_block *block = numbered_block();
    struct quipu_moment moment = {.address = place_of_test(stub), .instrumented = 1};
    uint64_t above =
        /* inserted additions do not change this sum */
        (uint64_t)quipu_sum_of(stub, 0, TICKS);
    moment.ticks = count_in(block, TICKS) + above;
    moment.thread = (uint32_t)block->thread;
    if (block->countdown_end && block->countdown_end <= count_in(block, TICKS)) {
        block->countdown_end = 0;
        quipu_moment_near(block);
    }
    struct alarm due = take_alarm(block, moment.ticks);
    divide_countdown(block);
    restore_signals(mask);
    while (due.handler) {
        call_handler(block, &due, &moment, above);
        mask = block_signals();
        due = take_alarm(block, moment.ticks);
        divide_countdown(block);
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

/* A handler may run between the reads of two cells. Then both sums differ. */
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
        divide_countdown(block);
    }
    restore_signals(mask);
    return slot < QUIPU_EVENT_ALARMS ? 0 : -EAGAIN;
}
