/* shadow.c: which parts of the shadow are writable.
 *
 * The whole shadow is readable, since checks read it for all addresses. Invalid pointers, such as
 * 0xdeadbeef or an address truncated to 32 bits, may point into it. A store through one must end
 * the program as it does without quipu. So the shadow is writable only in pieces where regions have
 * been.
 *
 * Not perfect: a load through such a pointer reads 0. A store is not stopped in a piece where
 * regions have been, or in the fixed area. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>

enum {
    OPEN_BITS = 21, /* a piece of the shadow, which covers 128 MiB */
    ALL_PIECES = (QUIPU_WATCH_SHADOW_SIZE >> OPEN_BITS),
};

static bool is_open(uint64_t piece) {
    return WATCH->open_pieces[piece / 8] >> piece % 8 & 1;
}

static long open_pieces(uint64_t first, uint64_t end) {
    long error = SYSTEM_CALL(mprotect, QUIPU_WATCH_SHADOW + (first << OPEN_BITS),
                             (end - first) << OPEN_BITS, PROT_READ | PROT_WRITE, 0, 0, 0);
    for (uint64_t piece = first; error == 0 && piece < end; piece++)
        WATCH->open_pieces[piece / 8] |= (uint8_t)(1 << piece % 8);
    return error;
}

long quipu_watch_open_shadow(uint64_t first, uint64_t last) {
    struct watch *watch = WATCH;
    if (watch->no_shadow)
        return 0;
    if (!watch->open_pieces && !(watch->open_pieces = quipu_watch_map(ALL_PIECES / 8)))
        return -ENOMEM;
    uint64_t end = (last >> OPEN_BITS) + 1;
    for (uint64_t piece = first >> OPEN_BITS; piece < end;) {
        uint64_t begin = piece;
        while (piece < end && !is_open(piece))
            piece++;
        /* the limit of mappings is reached: make the whole shadow writable, as one */
        if (piece > begin && open_pieces(begin, piece) < 0) {
            long error = open_pieces(0, ALL_PIECES);
            if (error < 0)
                return error;
        }
        while (piece < end && is_open(piece))
            piece++;
    }
    return 0;
}
