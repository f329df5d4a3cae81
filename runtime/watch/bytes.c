/* bytes.c: copies of the regions' last known bytes, and reads of the program's memory that do not
 * fault.
 *
 * Copies are blocks of 16 << class bytes, cut from chunks that are never unmapped, with a free list
 * for each class. Copies above the largest class have a mapping each. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>

enum {
    CHUNK = 1 << 18,
    SMALLEST = 4, /* bits */
};

/* Whether the page of ADDRESS is readable. The kernel copies the signal set from it before it
 * rejects the invalid operation. So the call changes nothing, and touches no memory but that
 * page. */
static bool is_readable(uint64_t address) {
    enum {
        NO_OPERATION = 77
    };
    uint64_t page = address & -(uint64_t)QUIPU_PAGE; /* offset 0 could be NULL, which is no set at
                                                      * all */
    return SYSTEM_CALL(rt_sigprocmask, NO_OPERATION, page + 8, 0, sizeof(uint64_t), 0, 0) !=
           -EFAULT;
}

uint64_t quipu_watch_read(void *to, uint64_t from, uint64_t size) {
    uint64_t done = 0;
    while (done < size && is_readable(from + done)) {
        uint64_t rest = QUIPU_PAGE - (from + done) % QUIPU_PAGE;
        uint64_t count = lesser(rest, size - done);
        copy_bytes((uint8_t *)to + done, (const void *)(from + done), count);
        done += count;
    }
    return done;
}

bool quipu_watch_is_readable(uint64_t address, uint64_t end) {
    while (address < end && is_readable(address))
        address = (address | (QUIPU_PAGE - 1)) + 1;
    return address >= end;
}

static unsigned class_of(uint64_t size) {
    unsigned bits = 64 - (unsigned)__builtin_clzll(size - 1);
    return bits <= SMALLEST ? 0 : bits - SMALLEST;
}

/* Abandons the rest of the old chunk, which is less than the largest class. */
static uint8_t *cut_chunk(uint64_t size) {
    struct watch *watch = WATCH;
    if (watch->chunk_left < size) {
        uint8_t *chunk = quipu_watch_map(CHUNK);
        if (!chunk)
            return NULL;
        watch->chunk = chunk;
        watch->chunk_left = CHUNK - PIECE_MOST; /* a reader may read up to this many bytes for a
                                                 * shorter piece */
    }
    uint8_t *copy = watch->chunk;
    watch->chunk += size;
    watch->chunk_left -= size;
    return copy;
}

uint8_t *quipu_watch_new_copy(uint64_t size) {
    unsigned class = class_of(size);
    if (class >= WATCH_CLASSES)
        return quipu_watch_map(round_to_page(size));
    uint8_t *copy = WATCH->free_copies[class];
    if (!copy)
        return cut_chunk((uint64_t)1 << (SMALLEST + class));
    copy_bytes(&WATCH->free_copies[class], copy, sizeof copy);
    return copy;
}

void quipu_watch_free_copy(uint8_t *copy, uint64_t size) {
    unsigned class = class_of(size);
    if (class >= WATCH_CLASSES) {
        SYSTEM_CALL(munmap, copy, round_to_page(size), 0, 0, 0, 0);
        return;
    }
    copy_bytes(copy, &WATCH->free_copies[class], sizeof copy);
    WATCH->free_copies[class] = copy;
}
