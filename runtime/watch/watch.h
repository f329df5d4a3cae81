/* watch.h: the functions that the files of watched memory offer each other.
 *
 * Implements the "monitored region service" of Wahbe, Lucco and Graham 1993. Inserted code tests
 * the shadow (format/watch.h) before each store, and enters entry.S where it is not 0. area.h
 * declares the regions and all other data that modules share, with their invariants.
 *
 * Invariant: the runtime reads the program's own memory in one of two ways. Either it reads without
 * the lock and with the program's signal mask, so that a fault is the program's fault. Or it calls
 * `quipu_watch_read`, which does not fault. */
#ifndef QUIPU_RUNTIME_WATCH_WATCH_H
#define QUIPU_RUNTIME_WATCH_WATCH_H

#include "runtime/core/section.h"
#include "runtime/watch/area.h"

/* ---- Jumps in inserted code ---- */

enum {
    JMP_SHORT = 0xeb,
    JMP_NEAR = 0xe9,
    CALL_NEAR = 0xe8,
    JMP_SLOT = 0xff, /* jump through a slot of the global offset table */
    LEAQ_SIZE = 5,   /* of leaq 8(%rsp), %rsp, which precedes jumps out of line */
};

static inline bool is_jump(const uint8_t *place) {
    return *place == JMP_SHORT || *place == JMP_NEAR;
}

static inline int32_t distance_at(const uint8_t *place) {
    int32_t distance = 0;
    copy_bytes(&distance, place, sizeof distance);
    return distance;
}

static inline const uint8_t *target_of_jump(const uint8_t *jump) {
    return *jump == JMP_SHORT ? jump + 2 + (int8_t)jump[1] : jump + 5 + distance_at(jump + 1);
}

/* ---- area.c ---- */

/* Whether the fixed area exists and was made by a runtime of the same build. If not, nothing is
 * reported. */
extern bool quipu_watch_ready;

/* Blocks all signals and takes the lock. Returns the mask for quipu_watch_unlock (quick.c). */
uint64_t quipu_watch_lock(void);
/* Only the lock, for callers that have blocked signals. */
void quipu_watch_take_lock(void);
/* Releases the lock, for callers that have only read. Others release it by quick.c. */
void quipu_watch_release_lock(void);

/* Returns zeroed memory, or NULL. Large blocks use huge pages, because accesses are random. */
void *quipu_watch_map(uint64_t size);

/* Returns the number of the process. */
uint32_t quipu_watch_pid(void);
/* Whether the process no longer has a thread with kernel number TID. */
bool quipu_watch_thread_is_gone(uint32_t tid);

/* ---- start.c ---- */

/* Makes or finds the fixed area and the shadow. May run several times. entry.S and early.S refer to
 * it by name. */
void quipu_watch_start(int argc, char **argv, char **environment);

/* ---- bitmap.c ---- */

/* Makes the shadow's bytes FIRST to LAST writable. Returns 0 or the negative error number. The
 * caller holds the lock. */
long quipu_watch_open_shadow(uint64_t first, uint64_t last);
/* For a refused shadow: makes all checks of this module call the runtime. */
void quipu_watch_use_bitmap(void);
/* Returns the counter of a granule where there is no shadow. NULL means a counter of 0, or with
 * MAKE that memory is exhausted. */
uint8_t *quipu_watch_counter(uint64_t granule, bool make);

/* ---- sites.c ---- */

/* The checks of this module. */
const struct quipu_site *quipu_watch_sites(uint64_t *count);

/* Arms the checks of stores that may touch [ADDRESS, END). Returns 0 or the negative error number.
 * The caller holds the lock. */
long quipu_watch_arm_stores(uint64_t address, uint64_t end);

/* Arms the queries before calls that ASKED selects (flags WATCH_ASKS_...), and the comparisons
 * after them. Result and lock as above. */
long quipu_watch_arm_calls(unsigned asked);
/* Makes the no-operation at PLACE in this module a jump to CODE, unless it already is one. Returns
 * whether it is one now. */
bool quipu_watch_arm_site(uint64_t place, uint64_t code);
/* Whether the module that contains ADDRESS has started. The caller holds the lock. */
bool quipu_watch_has_module(uint64_t address);
/* Whether ADDRESS is in the calling module. */
bool quipu_watch_is_own(uint64_t address);
/* Makes the executable's module report threads that start. */
long quipu_watch_lead_all_threads(void);
/* Makes all functions report the points to which execution may return from other frames, and
 * FUNCTION its entry and ends. Also arms the checks of stores to the stack, where its locals are.
 * Returns 0 or the negative error number. The caller holds the lock. */
long quipu_watch_arm_function(uint64_t function);
/* Other threads have started, and `stacks_apart` is set: arms the checks of all stores to the
 * stack. */
void quipu_watch_note_threads(void);
/* Registers this module, with its VISIT (visit.c) and LEAD_THREADS (thread.c). From now on its
 * checks may be armed. */
void quipu_watch_enter_module(void (*visit)(const char *path),
                              long (*lead_threads)(uint64_t begin, uint64_t end));
/* The module is being closed. */
void quipu_watch_leave_module(void);

/* Returns those of WATCH_STEADY and WATCH_OWN that are true of [ADDRESS, ADDRESS + SIZE). The
 * caller holds the lock. */
uint16_t quipu_watch_kind_of_variable(uint64_t address, uint64_t size);
/* Whether [ADDRESS, END) contains bytes of an instrumented module. The caller holds the lock. */
bool quipu_watch_overlaps_module(uint64_t address, uint64_t end);

/* ---- memory.c ---- */

/* Sets the begin of the heap and the address of the variable that holds its break. Does so once. */
void quipu_watch_find_heap(void);
/* Whether [ADDRESS, END) is in the heap that brk made. The caller holds the lock. */
bool quipu_watch_is_in_heap(uint64_t address, uint64_t end);
/* Whether [ADDRESS, END) contains bytes of it. */
bool quipu_watch_overlaps_heap(uint64_t address, uint64_t end);
/* Whether [ADDRESS, END) may contain a stack. The caller holds the lock. */
bool quipu_watch_may_be_stack(uint64_t address, uint64_t end, bool is_variable);
/* Whether [ADDRESS, END) is in the used part of the first thread's stack. The caller is that
 * thread. */
bool quipu_watch_is_in_use_on_stack(uint64_t address, uint64_t end);
/* Whether the process is known to have one thread. */
bool quipu_watch_is_alone(void);
/* Whether other processes may write to the region at ADDRESS, which has just been written to. */
bool quipu_watch_is_shared(const struct watch_region *region, uint64_t address);
/* Records that [ADDRESS, ADDRESS + LENGTH) is a stack from now on. */
void quipu_watch_note_stack(uint64_t address, uint64_t length);

/* ---- quick.c ---- */

/* Updates all data that fast checks read. */
void quipu_watch_settle(void);
/* Settles and releases the lock; the first function also restores the signal MASK. */
void quipu_watch_unlock(uint64_t mask);
void quipu_watch_give_lock(void);
/* Lists the pieces again, if regions were added or removed. This is separate so that many additions
 * list them once. */
void quipu_watch_list_pieces(void);
/* For a region that is added, before it is counted; and for one that is removed. The caller holds
 * the lock. */
void quipu_watch_classify(struct watch_region *region);
void quipu_watch_declassify(struct watch_region *region);
/* The region [ADDRESS, END) was removed: narrows the bounds of all regions. The caller holds the
 * lock. */
void quipu_watch_narrow_bounds(uint64_t address, uint64_t end);
/* Widens the bounds of regions on stacks to everything. The caller makes the change visible to
 * other threads, and holds the lock. */
void quipu_watch_forget_stack_bounds(void);
/* Whether the region's bytes are surely readable: WATCH_STEADY is set and not in doubt, and the
 * region ends at or below the break if it is in the heap. */
static inline bool quipu_watch_is_steady(const struct watch_region *region) {
    if (!(region->flags & ~__atomic_load_n(&WATCH->doubted, __ATOMIC_RELAXED) & WATCH_STEADY))
        return false;
    return !(region->flags & WATCH_HEAP) ||
           region->address + region->size <= *(volatile const uint64_t *)WATCH_QUICK->break_at;
}
/* Clears WATCH_STEADY for regions in [BEGIN, END), which may become unreadable. The caller holds
 * the lock. */
void quipu_watch_unsteady(uint64_t begin, uint64_t end);
/* Whether a store of LENGTH bytes may touch a region. The first function compares only with the
 * bounds of all regions. */
bool quipu_watch_may_reach(uint64_t address, uint64_t length);
bool quipu_watch_may_touch(uint64_t address, uint64_t length);
/* Whether the C library may keep its own data in the region. */
bool quipu_watch_may_be_library(const struct watch_region *region);
/* The program gave its memory to a stream as a buffer; or pages may have become unreadable. */
void quipu_watch_note_stream(uint64_t address, uint64_t length);
void quipu_watch_note_pages(uint64_t address, uint64_t length);
/* Regions have been read or compared since time stamp BEGIN. If there are many, no comparison is
 * made for some time. */
void quipu_watch_put_off_comparison(uint64_t begin);

/* ---- bytes.c ---- */

/* Reads the program's memory. Stops at the first unreadable byte and leaves the rest of TO
 * unchanged. Returns the number of bytes read. */
uint64_t quipu_watch_read(void *to, uint64_t from, uint64_t size);
/* Whether all of [ADDRESS, END) is readable. */
bool quipu_watch_is_readable(uint64_t address, uint64_t end);

/* formats.c: whether the printf format at ADDRESS has, or may have, a conversion that writes. */
bool quipu_watch_writes_by_format(uint64_t address);
/* Allocates or frees a region's copy of more than WATCH_INLINE bytes. The caller holds the lock. */
uint8_t *quipu_watch_new_copy(uint64_t size);
void quipu_watch_free_copy(uint8_t *copy, uint64_t size);

/* ---- region.c, find.c ---- */

/* Makes a region. Returns its id, or the negative error number. */
int64_t quipu_watch_add(uint64_t address, uint64_t size, uint64_t handler, uint64_t argument,
                        uint32_t flags);
/* Returns 0, or -ENOENT. */
int quipu_watch_remove(int64_t id);
/* Stores the range of the region ID. Returns false if there is no such region. */
bool quipu_watch_range_of(int64_t id, struct watch_range *range);
/* Finds regions that overlap [ADDRESS, END) and have indices of at least FROM. Stores the
 * WATCH_BATCH lowest indices in order. Returns their number. The regions may be gone already. */
unsigned quipu_watch_find(uint64_t address, uint64_t end, uint32_t from,
                          uint32_t found[WATCH_BATCH]);
/* Whether a granule of [ADDRESS, END) is marked. All granules that a region touches are marked. */
bool quipu_watch_is_marked(uint64_t address, uint64_t end);
/* Copies a region's record. Returns whether it is in use and overlaps [ADDRESS, END). */
bool quipu_watch_look(uint32_t index, uint64_t address, uint64_t end, struct watch_region *region);

/* The same for callers that hold the lock. WANTED has address, size, handler, argument and
 * flags. */
int64_t quipu_watch_add_locked(const struct watch_region *wanted);
void quipu_watch_remove_locked(int64_t id);
/* Clears `armed` if there is no region and no request for blocks. The caller holds the lock. */
void quipu_watch_disarm(void);
/* Sets `armed`. */
void quipu_watch_arm(void);
/* Reads the bytes of new regions into their copies, which are known from then on. */
void quipu_watch_read_new(void);

/* ---- heap.c: blocks of the heap ---- */

/* Starts request NUMBER for blocks. BIAS is that of its module. Returns 0 or the negative error
 * number. */
int quipu_watch_ask_for_blocks(uint32_t number, uint64_t bias);
/* Ends the request, and forgets its blocks. */
void quipu_watch_let_blocks_go(uint32_t number);
/* The block at ADDRESS is about to be freed; or the call with stack pointer STACK may move it. */
void quipu_watch_block_freeing(uint64_t address);
void quipu_watch_block_moving(uint64_t address, uint64_t stack);
/* The call that returned to PC has freed the block at ADDRESS ... */
void quipu_watch_block_freed(uint64_t address, uint64_t pc);
/* ... or has allocated SIZE bytes at ADDRESS, or mapped them ... */
void quipu_watch_block_made(uint64_t address, uint64_t size, uint64_t pc, bool is_mapped);
/* ... or should have moved the block at OLD, which may be 0, to ADDRESS. If ADDRESS is 0 it
 * failed. */
void quipu_watch_block_moved(uint64_t old, uint64_t address, uint64_t size, uint64_t pc,
                             uint64_t stack);
/* The program is about to unmap [ADDRESS, END). */
void quipu_watch_block_unmapped(uint64_t address, uint64_t end);
/* Refreshes the copies of freed blocks at ADDRESS, because allocators write into them. Returns
 * whether there are such blocks. */
bool quipu_watch_refresh_freed(uint64_t address);
/* Describes the block that REGION belongs to. Returns whether it still does. */
bool quipu_watch_describe_block(uint32_t index, const struct watch_region *region,
                                struct quipu_block *block);

/* ---- callees.c ---- */

enum {
    CALLEE_RANGES = 3 /* ranges of a row */
};

/* The extents of each row (format/watch_callees.h). */
extern const uint32_t quipu_watch_callee_rows[][CALLEE_RANGES];
/* By row: whether entry.S handles a call of it alone; and the number of rows. */
extern const uint8_t quipu_watch_plain_rows[];
extern const uint32_t quipu_watch_plain_count;

/* What a callee may write besides ranges. */
enum watch_reach {
    WATCH_REACHES_RANGES,
    WATCH_REACHES_LIBRARY, /* the C library's own memory */
    WATCH_REACHES_ALL,
};
enum watch_reach quipu_watch_reach(uint32_t row);
/* Whether the row is of a function that allocates or frees. */
bool quipu_watch_is_allocator(uint32_t row);
/* Whether it maps or unmaps memory: blocks may overlap earlier ones in part. */
bool quipu_watch_maps(uint32_t row);
/* Whether all regions are compared after a call of it. */
bool quipu_watch_is_unknown(uint32_t row);
/* Whether the ranges of the row contain all that it may write besides the C library's own memory.
 */
bool quipu_watch_knows_ranges(uint32_t row);

/* ---- code.c ---- */

/* Prepares what follows, from all COUNT rows of the table of sites. Returns whether there was
 * enough memory. */
bool quipu_watch_sort_code(const struct quipu_site *sites, uint64_t count);
/* The longest range of code in which all has checks. */
struct watch_range quipu_watch_longest_code(void);
/* Whether the code at ADDRESS is in this module, and has checks. */
bool quipu_watch_has_checks(uint64_t address);

/* ---- compare.c ---- */

/* The unknown call with STUB, as in struct watch_running_call, has returned: compares all regions
 * with their copies, and reports changes. If there are many regions, does so only from time to
 * time. */
void quipu_watch_compare(const struct watch_call *call, uint64_t stub);
/* Whether comparisons were skipped, or calls are recorded that may have called back what runs now.
 * Otherwise the next two functions do nothing. */
bool quipu_watch_is_put_off(void);
/* The program is about to write to [ADDRESS, END). If comparisons were skipped, or if a recorded
 * call has called back what runs now, compares what is watched there: changes would be lost. STACK
 * is the stack pointer of the store or call. */
void quipu_watch_compare_before(uint64_t address, uint64_t end, uint64_t stack);
/* The same if what is watched in [ADDRESS, END) is about to end. It is compared as a whole. */
void quipu_watch_compare_ending(uint64_t address, uint64_t end, uint64_t stack);
/* Makes a comparison that was skipped, because no later one may follow. Changes are reported for
 * the last call that was not followed by a comparison. IS_EXACT: since then no code has run that is
 * not known. STACK is the caller's stack pointer. */
void quipu_watch_compare_last(uint64_t stack, bool is_exact);

/* ---- call_site.c ---- */

/* Returns the address behind a jump that ends a function: prefixes, opcode, operand. */
uint64_t quipu_watch_behind_jump(const uint8_t *jump);
/* Returns the call's return address, which is just before the jump out of line. STUB is the return
 * address of the call out of line. Behind STUB is the jump back, or the end of a jump that became a
 * call. */
uint64_t quipu_watch_place_of_return(uint64_t stub);
/* Returns the address of the call that STUB and DESCRIPTOR describe as in struct
 * watch_running_call: a hit's pc. */
uint64_t quipu_watch_place_of_call(uint64_t stub, uint32_t descriptor);

/* ---- open.c: pairs and calls that have begun and not ended ---- */

/* The pair or call with that stack pointer: `find` returns the present one or NULL, `take` one to
 * fill in. */
struct watch_pair *quipu_watch_find_pair(uint64_t stack);
struct watch_pair *quipu_watch_take_pair(uint64_t stack);
struct watch_call *quipu_watch_find_call(uint64_t stack);
/* Also increments `calling`. */
struct watch_call *quipu_watch_take_call(uint64_t stack);
/* Their writes have been reported. */
void quipu_watch_close_pair(struct watch_pair *pair);
void quipu_watch_close_call(struct watch_call *call);
/* Forgets calls of this thread that cannot end any more. STACK is the calling function's stack
 * pointer. */
void quipu_watch_drop_left_calls(uint64_t stack);
/* Whether an open store or an open call of a known function, which reports the range itself, writes
 * to [ADDRESS, END). STACK is the calling thread's stack pointer. */
enum watch_openness {
    WATCH_NOT_OPEN,
    WATCH_OPEN_HERE, /* one of the calling thread */
    WATCH_OPEN_ELSEWHERE
};
enum watch_openness quipu_watch_is_open(uint64_t address, uint64_t end, uint64_t stack);

/* ---- writes ---- */

/* As in quipu.h, which is the program's. */
struct quipu_write {
    const void *region;
    uint64_t region_size;
    const void *address;
    uint64_t size;
    const void *old_bytes;
    const void *new_bytes;
    uint64_t offset;
    uint64_t told;
    const void *pc;
    uint64_t exact;
    uint64_t undecided;
};

int64_t quipu_runtime_watch(uint64_t address, uint64_t size, uint64_t handler, uint64_t argument);
int quipu_runtime_unwatch(int64_t id);

/* A write to report. */
struct watch_write {
    uint64_t address;
    uint64_t length; /* not 0 */
    uint64_t pc;
    uint64_t place;                  /* address for which its ticks are computed; 0: the thread has
                                      * long left it */
    uint32_t cause;                  /* enum quipu_cause */
    bool if_changed;                 /* report it only where a byte has changed */
    const struct watch_pair *pair;   /* has the old bytes; NULL: the region's copy has them */
    uint64_t made;                   /* value of `made`: copies of later regions do not hold the old
                                      * bytes */
    uint64_t stack;                  /* of QUIPU_CAUSE_CHANGE: stack pointer at the comparison */
    uint64_t named;                  /* likewise: stub of the call at `pc`, behind which nothing was
                                      * compared; 0: that is not so */
    struct watch_hold *hold;         /* the write locks of the range */
    struct watch_suspects *suspects; /* other calls that may have made the change */
    uint32_t skipped;                /* of a call's ranges: as in struct watch_call */
    bool is_sure;                    /* the old bytes are surely the last known ones */
};

/* Whether the reported old bytes are exactly what the write to REGION replaced. */
static inline bool quipu_watch_is_exact(const struct watch_region *region,
                                        const struct watch_write *write) {
    return quipu_watch_is_undisturbed(write->hold, write->address,
                                      write->address + write->length) &&
           !quipu_watch_is_shared(region, greater(write->address, region->address));
}

/* Whether another call may have made the change. */
static inline bool quipu_watch_is_doubted(const struct watch_write *write) {
    return write->suspects && (write->suspects->count || write->suspects->more);
}

/* ---- copy.c ---- */

/* The size of an element of a scatter. */
static inline unsigned element_size(const struct watch_pair *pair) {
    return 1u << QUIPU_STORE_ELEMENT(pair->description);
}

static inline bool is_scatter(const struct watch_pair *pair) {
    return pair && QUIPU_STORE_KIND(pair->description) == QUIPU_STORE_SCATTER;
}

/* Pins the region with number INDEX if it has GENERATION. Returns it, or NULL. */
struct watch_region *quipu_watch_pin(uint32_t index, uint32_t generation);
void quipu_watch_unpin(struct watch_region *region);
/* Updates the copies of regions in [ADDRESS, END) from memory. */
void quipu_watch_refresh(uint64_t address, uint64_t end);
/* The reported part of a write: COUNT bytes, limited to MOST, from offset FROM of the region. */
struct watch_window {
    uint64_t from;
    uint64_t count;
};
/* Sets the window and its old and new bytes, and updates the copy. Returns whether the region still
 * exists and the write is to be reported. */
bool quipu_watch_fill(uint32_t index, const struct watch_region *region,
                      const struct watch_write *write, struct watch_window *window, uint8_t *old,
                      uint8_t *now);

/* ---- report.c ---- */

/* Reports the write to one region, and updates the region's copy. */
void quipu_watch_report(uint32_t index, const struct watch_write *write);
/* Reports the write to all regions that it touches. */
void quipu_watch_report_all(const struct watch_write *write);
/* In a forked child, which has no other threads. */
void quipu_watch_forget_handlers(void);

/* ---- frame.c ---- */

/* Behind a store. STACK is the stack pointer at the store minus 128. The runtime has run below,
 * where a frame may be allocated later, or a stack in watched memory grows: these bytes are taken
 * again. */
void quipu_watch_refresh_stack(uint64_t stack);

/* Watches OFFSET from the CFA in each call of FUNCTION, for request NUMBER. Returns 0 or the
 * negative error number. -EAGAIN: its module has not started. */
long quipu_watch_add_local(uint32_t number, const struct watch_local *local);
/* Does the same for OFFSET from the thread pointer, in the calling thread and each thread that
 * starts later. -EOPNOTSUPP: only in the calling thread. */
long quipu_watch_add_thread_local(uint32_t number, const struct watch_local *local);
/* The calling thread has started. */
void quipu_watch_thread_began(void);
/* Returns the function of which request NUMBER watches a local, or 0. */
uint64_t quipu_watch_local_function(uint32_t number);
void quipu_watch_remove_local(uint32_t number);
/* Whether the region's activation is known to have ended. */
bool quipu_watch_is_left(const struct watch_region *region);
/* In a forked child, which has no other threads. The caller holds the lock. */
void quipu_watch_forget_activations(void);
/* Sets RANGES to what is watched at or above LOWEST in the THREAD's frame with CFA FRAME, or in the
 * thread itself: WATCH_NO_FRAME. Returns their number. */
unsigned quipu_watch_frame_ranges(uint64_t thread, uint64_t frame, uint64_t lowest,
                                  struct watch_range ranges[WATCH_BATCH]);
/* Whether the calling thread may have activations. */
bool quipu_watch_has_activations(void);
/* Nothing is watched any more in the frame, or in the calling thread itself. */
void quipu_watch_end_frame(uint64_t thread, uint64_t frame);
void quipu_watch_end_thread(void);

/* ---- frame_end.c ---- */

/* The calling thread ends. */
void quipu_watch_thread_ended(void);

/* ---- thread.c ---- */

/* Makes modules report threads that start. BEGIN and END are the calling module's. Returns 0 or the
 * negative error number. -EOPNOTSUPP: not possible. */
long quipu_watch_lead_threads(uint64_t begin, uint64_t end);

/* ---- loops.c ---- */

/* A region was added: moves loops that run without checks to their checked loops. Returns 0 or the
 * negative error number. The caller holds the lock. */
long quipu_watch_stop_loops(void);
/* In a forked child, which has no other threads. The caller holds the lock. */
void quipu_watch_forget_loops(void);

/* ---- ring.c ---- */

static inline uint64_t round_up_to_8(uint64_t size) {
    return (size + 7) & -(uint64_t)8;
}

/* The bytes of FILE's ring at AT, of all that were ever reserved. */
uint8_t *quipu_watch_ring_at(struct quipu_watch_file *file, uint64_t at);
/* Reports this module, once for each process and file. */
void quipu_watch_announce(void);
/* Whether the file has a reader of hits. */
bool quipu_watch_is_read(const struct quipu_watch_file *file);
/* Reserves SIZE bytes, a multiple of 8, in the file's ring. Waits for room. Returns NULL if there
 * is no reader. Otherwise, if MASK is not NULL, signals are blocked and *MASK is the earlier
 * mask. */
struct quipu_record *quipu_watch_reserve(struct quipu_watch_file *file, uint32_t size,
                                         uint64_t *mask);
/* Completes a record and wakes the consumer. */
void quipu_watch_publish(struct quipu_record *record, uint32_t size, uint32_t kind);
/* Whether PC is an allowed writer. The caller has read FILE before. If it was replaced meanwhile,
 * the new one has no entries, or this module has no number in it yet. */
bool quipu_watch_is_allowed(const struct quipu_watch_file *file, uint64_t pc);

/* ---- log.c, request.c ---- */

/* Maps the watch file, if there is one. Returns false if nothing tells of it yet: neither
 * ENVIRONMENT nor the C library. */
bool quipu_watch_open_log(char **environment);
/* Maps the file at PATH in place of the present one, and handles its requests. Returns 0 or the
 * negative error number. -EBUSY: the present file still has a reader. */
long quipu_watch_change_log(const char *path);
/* Removes all regions of requests. */
void quipu_watch_drop_requests(void);
/* Adds and removes regions according to the requests. */
void quipu_watch_look_at_requests(void);
/* Writes a hit. The signal mask is the program's. */
void quipu_watch_log(uint32_t index, const struct watch_region *region,
                     const struct watch_write *write, struct watch_window window);
/* ---- trap.c ---- */

/* Registers that functions of the runtime preserve. */
struct watch_kept {
    uint64_t r15, r14, r13, r12, rbx;
};

/* Sends SIGTRAP to the calling thread when the runtime returns to the code that wrote. CAUSE is as
 * in a hit. */
void quipu_watch_trap(uint32_t cause);

/* ---- moment/moment.c, if inserted code counts ticks ---- */

/* The calling thread's number, and its ticks at ADDRESS in the module's code, from which it has
 * just come. */
void quipu_moment_at(uint64_t address, uint64_t *ticks, uint32_t *thread) __attribute__((weak));
WEAK_HERE(quipu_moment_at);

/* ---- visit.c ---- */

/* The function that `visit` of the fixed area points to. It does not return. */
void quipu_watch_visited(const char *path);

#endif
