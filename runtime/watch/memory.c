/* memory.c: what is known of the process's memory: where its heap is, and where stacks may be.
 *
 * The break tells where the heap of brk is. A stack may be anywhere but in variables and that heap.
 * While there is one thread, it is only where the first thread's stack may grow. Programs with
 * other stacks tell the C library (format/watch_callees.h), or the shim sees that they change the
 * stack pointer: stacks_anywhere.
 *
 * Not perfect: if memory is unmapped and becomes the stack of a new thread, this is known only from
 * the next comparison on. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <fcntl.h>
#include <sys/resource.h>

enum {
    STACK_ROOM = 128 << 20,
};

#define LONGEST_STACK ((uint64_t)1 << 36)

/* glibc's: where the first thread's stack begins, and whether there is only one thread. */
extern void *const __libc_stack_end __attribute__((weak));
extern const char __libc_single_threaded __attribute__((weak));

/* ---- The heap ---- */

/* glibc's copy of the break; 0 before its first use. */
extern uint64_t __curbrk __attribute__((weak));

static uint64_t present_break(void) {
    uint64_t known = &__curbrk ? *(volatile const uint64_t *)&__curbrk : 0;
    if (known)
        return known;
    return (uint64_t)SYSTEM_CALL(brk, 0, 0, 0, 0, 0, 0);
}

void quipu_watch_find_heap(void) {
    struct watch *watch = WATCH;
    if (!watch->heap_begin)
        watch->heap_begin = watch->heap_end = present_break();
    if (!WATCH_QUICK->break_at)
        WATCH_QUICK->break_at = &__curbrk ? &__curbrk : &WATCH_QUICK->heap_end;
    if (!WATCH_QUICK->alone)
        WATCH_QUICK->alone =
            &__libc_single_threaded ? &__libc_single_threaded : (const char *)&WATCH->no_one;
}

bool quipu_watch_is_in_heap(uint64_t address, uint64_t end) {
    struct watch *watch = WATCH;
    if (address < watch->heap_begin)
        return false;
    if (end > watch->heap_end)
        watch->heap_end = present_break();
    return end <= watch->heap_end;
}

bool quipu_watch_overlaps_heap(uint64_t address, uint64_t end) {
    return end > WATCH->heap_begin && address < present_break();
}

/* ---- Stacks ---- */

bool quipu_watch_is_alone(void) {
    return &__libc_single_threaded && *(volatile const char *)&__libc_single_threaded;
}

/* Returns the range in which the first thread's stack may grow. The kernel maps nothing there by
 * itself: at the start it reserves as much as the limit says, at least 128 MiB. If the stack's
 * begin is unknown, returns all memory. */
static struct watch_range first_stack(void) {
    static struct watch_range stack;
    struct rlimit limit = {0, LONGEST_STACK};
    if (!&__libc_stack_end)
        return (struct watch_range){0, ADDRESSES_END};
    if (!stack.length) {
        SYSTEM_CALL(prlimit64, 0, RLIMIT_STACK, NULL, &limit, 0, 0);
        uint64_t length = greater(STACK_ROOM, lesser(limit.rlim_cur, LONGEST_STACK));
        stack.address = (uint64_t)__libc_stack_end - length;
        stack.length = length + QUIPU_PAGE;
    }
    return stack;
}

/* Whether the memory contains no thread's stack, and cannot become one while it stays mapped. */
static bool is_apart_from_stacks(uint64_t address, uint64_t end) {
    struct watch_range stack = first_stack();
    return quipu_watch_is_alone() && !overlaps_any(&stack, 1, address, end);
}

bool quipu_watch_is_in_use_on_stack(uint64_t address, uint64_t end) {
    struct watch_range stack = first_stack();
    uint64_t top = (uint64_t)__builtin_frame_address(0);
    return &__libc_stack_end && top - stack.address < stack.length && address >= top &&
           end <= (uint64_t)__libc_stack_end;
}

/* Whether a stack that the program has declared overlaps the range. */
static bool is_in_stack(uint64_t address, uint64_t end) {
    return overlaps_any(WATCH->stacks, WATCH->stack_count, address, end);
}

/* If a region overlaps the new stack, arms the checks of stores to the stack at once. */
static void enter_stack(struct watch_range stack) {
    struct watch *watch = WATCH;
    quipu_watch_forget_stack_bounds();
    if (watch->stack_count < WATCH_GIVEN)
        watch->stacks[watch->stack_count++] = stack;
    else
        watch->stacks_anywhere = true;
    for (uint32_t i = 0; i < watch->used; i++) {
        const struct watch_region *region = region_at(i);
        if (region->size && (watch->stacks_anywhere ||
                             is_in_stack(region->address, region->address + region->size))) {
            quipu_watch_arm_stores(region->address, region->address + region->size);
            return;
        }
    }
}

/* Whether other processes may see the page. If none can, the kernel calls the page anonymous once
 * it was written. */
static bool ask_whether_shared(uint64_t page) {
    enum {
        SHARED_BIT = 61
    };
    uint64_t entry = 0;
    long fd = SYSTEM_CALL(openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return true;
    long size = SYSTEM_CALL(pread64, fd, &entry, sizeof entry, page * sizeof entry, 0, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return size != sizeof entry || entry >> SHARED_BIT & 1;
}

/* Variables, the heap and frames belong to this process alone. For other pages the kernel is asked
 * once for each region. */
bool quipu_watch_is_shared(const struct watch_region *region, uint64_t address) {
    enum {
        KNOWN = 64,
        SHARED = 1
    };
    static uint64_t known[KNOWN]; /* key, with SHARED in its lowest bit */
    uint64_t page = address / QUIPU_PAGE;
    uint64_t key = (scatter_bits(page) ^ scatter_bits(region->address) ^ region->generation) &
                   ~(uint64_t)SHARED;
    if (region->flags & (WATCH_APART | WATCH_STEADY | WATCH_LOCAL))
        return false;
    uint64_t entry = __atomic_load_n(&known[page % KNOWN], __ATOMIC_RELAXED);
    if ((entry & ~(uint64_t)SHARED) != key || !entry) {
        entry = key | (ask_whether_shared(page) ? SHARED : 0);
        __atomic_store_n(&known[page % KNOWN], entry, __ATOMIC_RELAXED);
    }
    return entry & SHARED;
}

void quipu_watch_note_stack(uint64_t address, uint64_t length) {
    struct watch_range stack = {address, lesser(length, ADDRESSES_END)};
    uint64_t end = address + stack.length;
    uint64_t mask = quipu_watch_lock();
    bool is_one = is_in_stack(address, address + 1) && is_in_stack(end - 1, end);
    bool is_in_frame = end > (uint64_t)__builtin_frame_address(0); /* it may be in a frame of this
                                                                    * thread */
    if (stack.length && !is_one &&
        (quipu_watch_overlaps_module(address, end) || quipu_watch_is_in_heap(address, end) ||
         quipu_watch_is_alone() || is_in_frame))
        enter_stack(stack);
    quipu_watch_unlock(mask);
}

bool quipu_watch_may_be_stack(uint64_t address, uint64_t end, bool is_variable) {
    bool is_known = is_variable || quipu_watch_is_in_heap(address, end);
    bool is_apart = !is_known && is_apart_from_stacks(address, end);
    WATCH->stacks_apart |= is_apart;
    return WATCH->stacks_anywhere || (!is_known && !is_apart) || is_in_stack(address, end);
}
