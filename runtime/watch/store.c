/* store.c: the begin and the end of a store.
 *
 * The begin keeps the bytes that the store will overwrite. The end finds the regions that it
 * touched, and reports the write to them. So another thread may add or remove regions in between.
 * Between the two calls are one instruction of the program, and any signal handlers that run there.
 * So few pairs are open at a time, and each has its own stack pointer.
 *
 * The pair holds the old bytes of a store of at most 64 bytes. Longer stores (rep movs, xsave,
 * fxsave) refresh the copies of the regions that they will touch, and these then hold the old
 * bytes. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <asm/prctl.h>

enum {
    FLAG_DOWN = 1 << 10, /* the direction flag */
    INLINE_MAX = sizeof((struct watch_pair *)0)->old,
    END_SIZE = 10,     /* leaq -128(%rsp), %rsp and the call of quipu_watch_end: 5 bytes each */
    END_SIZE_FAR = 13, /* for a scatter, which goes further down */
};

/* Words of entry.S's frame. */
enum {
    FRAME_FLAGS = -1,
    FRAME_RETURN = 1,
    FRAME_DESCRIPTION = 2,
    FRAME_ADDRESS = 3,
    FRAME_EXTRA = 4, /* only of quipu_watch_begin_more */
};

static uint64_t segment_base(void) {
    uint64_t base = 0;
    SYSTEM_CALL(arch_prctl, ARCH_GET_GS, &base, 0, 0, 0, 0);
    return base;
}

/* Without a shadow each store comes here. Most touch nothing. */
static bool is_elsewhere(const uint64_t *frame) {
    uint32_t description = (uint32_t)frame[FRAME_DESCRIPTION];
    uint64_t address = frame[FRAME_ADDRESS];
    return WATCH->no_shadow && QUIPU_STORE_KIND(description) <= QUIPU_STORE_MASKED &&
           !(description & QUIPU_STORE_BY_GS) &&
           !quipu_watch_is_marked(address, address + QUIPU_STORE_SIZE(description));
}

void quipu_watch_begun(const uint64_t *frame, uint64_t stack);
void quipu_watch_ended(const uint64_t *frame, uint64_t stack);
void quipu_watch_called(const uint64_t *frame, uint64_t stack);

static uint64_t low_bits(uint64_t count) {
    return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

/* Converts bits for elements into bits for bytes. */
static uint64_t mask_of_bytes(uint64_t elements, unsigned size_bits) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < (unsigned)INLINE_MAX >> size_bits; i++)
        if (elements >> i & 1)
            mask |= low_bits((uint64_t)1 << size_bits) << (i << size_bits);
    return mask;
}

/* Returns the size of the processor's whole state. It is cached, since cpuid is slow. */
static uint64_t state_size(void) {
    static uint32_t known;
    if (!known) {
        uint32_t a = 13, b = 0, c = 0, d;
        __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
        known = b > 576 ? b : 576;
    }
    return known;
}

static void begin_string(struct watch_pair *pair, uint64_t elements, bool down) {
    unsigned bits = QUIPU_STORE_ELEMENT(pair->description);
    pair->length = elements << bits;
    if (down && elements)
        pair->address -= (elements - 1) << bits;
}

/* Copies the elements' addresses, because they are on the stack, where a handler may overwrite
 * them. */
static void begin_scatter(struct watch_pair *pair, const struct quipu_scatter *scatter) {
    uint64_t size = (uint64_t)1 << QUIPU_STORE_ELEMENT(pair->description), end = 0;
    unsigned count = (unsigned)lesser(scatter->count, 16);
    pair->mask = scatter->mask & low_bits(count);
    pair->address = UINT64_MAX;
    for (unsigned i = 0; i < count && (i + 1) * size <= INLINE_MAX; i++) {
        uint64_t address = pair->addresses[i] = scatter->addresses[i];
        if (!(pair->mask >> i & 1))
            continue;
        pair->address = lesser(pair->address, address);
        end = greater(end, address + size);
        copy_bytes(pair->old + i * size, (const void *)address, size);
    }
    pair->length = end ? end - pair->address : 0;
}

/* Takes the write locks for the bytes that the store will write: SIZE bytes, or as many as are
 * possible. */
static void hold_pair(struct watch_pair *pair, uint64_t size, uint64_t stack) {
    quipu_watch_hold(&pair->hold, pair->address, pair->address + size, stack);
}

static void begin_masked(struct watch_pair *pair, uint64_t mask) {
    pair->mask = mask;
    pair->length = mask ? 64 - (uint64_t)__builtin_clzll(mask) : 0;
    const uint8_t *from = (const uint8_t *)pair->address;
    if (mask == low_bits(pair->length)) {
        copy_bytes(pair->old, from, pair->length);
        return;
    }
    for (; mask; mask &= mask - 1) { /* bytes in gaps may be unreadable */
        int i = __builtin_ctzll(mask);
        pair->old[i] = from[i];
    }
}

/* Where a plain or masked store is about to write. */
static void compare_before(uint32_t description, uint64_t address, uint64_t stack) {
    if (QUIPU_STORE_KIND(description) <= QUIPU_STORE_MASKED)
        quipu_watch_compare_before(address, address + QUIPU_STORE_SIZE(description), stack);
}

void quipu_watch_begun(const uint64_t *frame, uint64_t stack) {
    uint32_t description = (uint32_t)frame[FRAME_DESCRIPTION];
    uint64_t extra = QUIPU_STORE_KIND(description) == QUIPU_STORE_PLAIN ? 0 : frame[FRAME_EXTRA];
    uint64_t address = frame[FRAME_ADDRESS];
    if (!quipu_watch_ready || is_elsewhere(frame))
        return;
    if (description & QUIPU_STORE_BY_GS)
        address += segment_base();
    compare_before(description, address, stack);
    struct watch_pair *pair = quipu_watch_take_pair(stack);
    pair->description = description;
    pair->address = address;
    pair->length = QUIPU_STORE_SIZE(description);
    pair->is_long = false;
    switch (QUIPU_STORE_KIND(description)) {
    case QUIPU_STORE_SCATTER:
        hold_pair(pair, QUIPU_PAGE, stack);
        begin_scatter(pair, (const struct quipu_scatter *)extra);
        return;
    case QUIPU_STORE_MASKED:
        hold_pair(pair, pair->length, stack);
        begin_masked(pair, mask_of_bytes(extra, QUIPU_STORE_ELEMENT(description)));
        return;
    case QUIPU_STORE_STRING:
        begin_string(pair, extra, (uint64_t)frame[FRAME_FLAGS] & FLAG_DOWN);
        break;
    case QUIPU_STORE_STATE:
        pair->length = state_size();
        break;
    }
    hold_pair(pair, greater(pair->length, 1), stack);
    if (pair->length <= INLINE_MAX && QUIPU_STORE_KIND(description) != QUIPU_STORE_STATE) {
        begin_masked(pair, low_bits(pair->length));
        return;
    }
    pair->is_long = true;
    pair->made = __atomic_load_n(&WATCH->made, __ATOMIC_RELAXED);
    quipu_watch_refresh(pair->address, pair->address + pair->length);
}

static void end_pair(struct watch_pair *pair, const uint64_t *frame) {
    struct watch_write write = {
        .address = pair->address,
        .length = pair->length,
        .pc =
            frame[FRAME_RETURN] -
            (QUIPU_STORE_KIND(pair->description) == QUIPU_STORE_SCATTER ? END_SIZE_FAR : END_SIZE),
        .place = frame[FRAME_RETURN],
        .cause = QUIPU_CAUSE_STORE,
        .if_changed = QUIPU_STORE_KIND(pair->description) == QUIPU_STORE_STATE,
        .pair = pair->is_long ? NULL : pair,
        .made = pair->made,
        .hold = &pair->hold};
    if (write.length && WATCH->armed)
        quipu_watch_report_all(&write);
    quipu_watch_let_go(&pair->hold);
    quipu_watch_close_pair(pair);
}

void quipu_watch_ended(const uint64_t *frame, uint64_t stack) {
    if (!quipu_watch_ready)
        return;
    struct watch_pair *pair = quipu_watch_find_pair(stack);
    if (pair)
        end_pair(pair, frame);
    quipu_watch_refresh_stack(stack);
}

/* A call is about to store its return address, which is given relative to this function's return
 * address. It is stored here, and again by the call. */
void quipu_watch_called(const uint64_t *frame, uint64_t stack) {
    enum {
        FRAME_DISTANCE = 2,
        RED_ZONE = 128,
    };
    uint64_t value = frame[FRAME_RETURN] + frame[FRAME_DISTANCE];
    uint64_t address = stack + RED_ZONE - sizeof value;
    const uint64_t begin[] = {[FRAME_DESCRIPTION] =
                                  QUIPU_STORE_DESCRIPTION(sizeof value, QUIPU_STORE_PLAIN, 0, 0),
                              [FRAME_ADDRESS] = address};
    const uint64_t end[] = {[FRAME_RETURN] = value + END_SIZE};
    if (!quipu_watch_ready || !WATCH->armed ||
        (!WATCH->no_shadow && !quipu_watch_is_marked(address, address + sizeof value)))
        return;
    quipu_watch_begun(begin, stack);
    *(uint64_t *)address = value;
    quipu_watch_ended(end, stack);
}
