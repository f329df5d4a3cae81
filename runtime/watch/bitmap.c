/* bitmap.c: a replacement for the shadow, if its address space is refused (ulimit -v,
 * overcommit_memory 2).
 *
 * The counters of granules are then in the paper's segmented table (section 3). It has one level
 * more here, since addresses have 47 bits. A segment is a page of counters, for 256 KiB. Inserted
 * code cannot read this table. So its checks become jumps to the code that calls the runtime, which
 * reads it. The program then runs slowly, but no write is missed.
 *
 * A check is
 *         cmpb    $0, QUIPU_WATCH_SHADOW(%rX)
 *         jne     SLOW                    6 bytes
 * and no other code looks like it. The jump replaces the first five bytes of the cmpb, which would
 * read unmapped memory. */
#include "runtime/core/note.h"
#include "runtime/core/protection.h"
#include "runtime/watch/watch.h"

#include "format/jump.h"

#define SEGMENT_BITS 12 /* granules of a segment */
#define MIDDLE_BITS  12
#define TOP_BITS     (47 - QUIPU_WATCH_GRANULE_BITS - SEGMENT_BITS - MIDDLE_BITS)

enum {
    CMP_SIZE = 7, /* one more with a prefix for %r8 to %r15 */
    PREFIX = 0x41,
    JNE_SIZE = 6,
};

/* Returns the table to which *PLACE points. With MAKE, allocates it if there is none. */
static void *table_at(void **place, uint64_t size, bool make) {
    void *table = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (!table && make && (table = quipu_watch_map(size)))
        __atomic_store_n(place, table, __ATOMIC_RELEASE);
    return table;
}

uint8_t *quipu_watch_counter(uint64_t granule, bool make) {
    uint64_t top = granule >> (SEGMENT_BITS + MIDDLE_BITS);
    uint64_t middle = granule >> SEGMENT_BITS & ((1 << MIDDLE_BITS) - 1);
    void **tables = table_at(&WATCH->counters, sizeof(void *) << TOP_BITS, make);
    if (!tables)
        return NULL;
    void **segments = table_at(&tables[top], sizeof(void *) << MIDDLE_BITS, make);
    if (!segments)
        return NULL;
    uint8_t *segment = table_at(&segments[middle], (uint64_t)1 << SEGMENT_BITS, make);
    return segment ? segment + (granule & ((1 << SEGMENT_BITS) - 1)) : NULL;
}

/* Makes the check in front of JNE always take the slow path. If the code cannot be changed, the
 * program faults at its first check; there is no remedy. */
static void take_always(uint8_t *jne) {
    uint8_t *check = jne - CMP_SIZE;
    int32_t distance = 0;
    uint32_t shadow = 0;
    copy_bytes(&shadow, check + 2, sizeof shadow);
    if (jne[0] != 0x0f || jne[1] != 0x85 || check[0] != 0x80 || (check[1] & 0xf8) != 0xb8 ||
        shadow != QUIPU_WATCH_SHADOW || check[6] != 0)
        return; /* not a check */
    if (check[-1] == PREFIX)
        check--;
    copy_bytes(&distance, jne + 2, sizeof distance);
    uint64_t to = (uint64_t)jne + JNE_SIZE + (uint64_t)(int64_t)distance;
    encode_jump(check, X86_JUMP_SIZE, (uint64_t)check, to);
}

/* Changes all checks of this module. The shadow's address and the jump identify them. */
static int use_in_module(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    if (!module_contains(info, &quipu_watch_ready))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
            protect_code(segment, info->dlpi_addr, begin, end, true) < 0)
            continue;
        for (uint64_t jne = begin + CMP_SIZE + 1; jne + JNE_SIZE <= end; jne++)
            take_always((uint8_t *)jne);
        protect_code(segment, info->dlpi_addr, begin, end, false);
    }
    return 1;
}

void quipu_watch_use_bitmap(void) {
    dl_iterate_phdr(use_in_module, NULL);
}
