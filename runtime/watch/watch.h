/* watch.h: what the files of watched memory offer each other.
 *
 * Wahbe, Lucco and Graham 1993, "monitored region service".  Inserted code asks the shadow
 * (format/watch.h) in front of each store and comes to entry.S where it is not 0.  What
 * is watched, and all else that modules share, is in home.h, with its invariants.
 *
 * Invariant: the program's own memory is read without the lock and with signals as they are, so
 * that a fault is the program's; or else `quipu_watch_read` reads it, which does not fault. */
#ifndef QUIPU_RUNTIME_WATCH_WATCH_H
#define QUIPU_RUNTIME_WATCH_WATCH_H

#include "runtime/core/section.h"
#include "runtime/watch/home.h"

/* ---- Jumps in what was inserted ---- */

enum {
    JMP_SHORT = 0xeb,
    JMP_NEAR = 0xe9,
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

/* ---- start.c ---- */

/* Whether the home is there and of this build's making.  Where not, nothing is told. */
extern bool quipu_watch_ready;

/* Makes the home and the shadow, or finds them; may run several times.  entry.S and
 * early.S name it. */
void quipu_watch_start(int argc, char **argv, char **environment);

/* Blocks all signals and takes the lock.  Returns the mask. */
uint64_t quipu_watch_lock(void);
void quipu_watch_unlock(uint64_t mask);
/* The lock alone, where signals are blocked. */
void quipu_watch_take_lock(void);
void quipu_watch_give_lock(void);

/* Memory that is zero, or NULL.  Much of it is in large pages: it is looked at at random. */
void *quipu_watch_map(uint64_t size);

/* ---- bitmap.c ---- */

/* Makes the shadow's bytes FIRST to LAST such that they can be written.  Returns 0 or minus an
 * error's number.  The lock is held. */
long quipu_watch_open_shadow(uint64_t first, uint64_t last);
/* The shadow was refused: has the checks of this module ask the runtime always. */
void quipu_watch_use_bitmap(void);
/* The counter of a granule where there is no shadow; NULL: 0, or with MAKE no memory. */
uint8_t *quipu_watch_counter(uint64_t granule, bool make);

/* ---- sites.c ---- */

/* This module's checks. */
const struct quipu_site *quipu_watch_sites(uint64_t *count);

/* Puts back the checks of stores that may touch [ADDRESS, END).  Returns 0 or minus the error's
 * number.  The lock is held. */
long quipu_watch_put_back(uint64_t address, uint64_t end);

/* Has calls ask what ASKED, flags WATCH_ASKS_..., says in front, and what is compared behind.  In
 * the same way. */
long quipu_watch_put_back_calls(unsigned asked);
/* Makes the no-operation at PLACE, of this module, a jump to CODE, if it is not one.  Returns
 * whether it is. */
bool quipu_watch_lead_out(uint64_t place, uint64_t code);
/* Whether the module that ADDRESS is in has begun.  The lock is held. */
bool quipu_watch_has_module(uint64_t address);
/* Has the executable's module tell of threads that begin. */
long quipu_watch_lead_all_threads(void);
/* Has functions tell where they are come back to, and FUNCTION where it begins and ends; its locals
 * are on the stack, so checks of stores there are put back, too.  Returns 0 or minus the error's
 * number.  The lock is held. */
long quipu_watch_put_back_function(uint64_t function);
/* Other threads have begun, and `stacks_apart`: has all stores to the stack be checked. */
void quipu_watch_note_threads(void);
/* This module is there, its checks may be put back. */
void quipu_watch_enter_module(void);

/* WATCH_STEADY and WATCH_OWN, as they are so of [ADDRESS, ADDRESS + SIZE).  The lock is held. */
uint16_t quipu_watch_kind_of_variable(uint64_t address, uint64_t size);
/* Whether [ADDRESS, END) has bytes of an instrumented module.  The lock is held. */
bool quipu_watch_overlaps_module(uint64_t address, uint64_t end);

/* ---- memory.c ---- */

/* Sets where the heap begins and where its break is told, once. */
void quipu_watch_find_heap(void);
/* Whether [ADDRESS, END) lies in the heap that brk made.  The lock is held. */
bool quipu_watch_is_in_heap(uint64_t address, uint64_t end);
/* Whether [ADDRESS, END) has bytes of it. */
bool quipu_watch_overlaps_heap(uint64_t address, uint64_t end);
/* Whether a stack may be in [ADDRESS, END).  The lock is held. */
bool quipu_watch_may_be_stack(uint64_t address, uint64_t end, bool is_variable);
/* Whether [ADDRESS, END) is in use on the first thread's stack, which is the calling one. */
bool quipu_watch_is_in_use_on_stack(uint64_t address, uint64_t end);
/* Whether the process is known to have one thread. */
bool quipu_watch_is_alone(void);
/* Whether other processes may write to the region at ADDRESS, which has been written to. */
bool quipu_watch_is_shared(const struct watch_region *region, uint64_t address);
/* [ADDRESS, ADDRESS + LENGTH) is a stack from now on. */
void quipu_watch_note_stack(uint64_t address, uint64_t length);

/* ---- quick.c ---- */

/* Makes all that is looked at first as it should be: before the lock is given back. */
void quipu_watch_settle(void);
/* Lists the pieces, if regions have come or gone: who makes many does not do it for each. */
void quipu_watch_list_pieces(void);
/* A region that comes, before it is counted; and one that goes.  The lock is held. */
void quipu_watch_classify(struct watch_region *region);
void quipu_watch_declassify(struct watch_region *region);
/* The region [ADDRESS, END) is gone: others may lie closer together now.  The lock is held. */
void quipu_watch_narrow_bounds(uint64_t address, uint64_t end);
/* Any region may be of a stack from now on: the caller sees to it that this is known.  Likewise. */
void quipu_watch_forget_stack_bounds(void);
/* Whether the region's bytes can be read without asking: WATCH_STEADY, if that is not in doubt, and
 * the break is behind it. */
static inline bool quipu_watch_is_steady(const struct watch_region *region) {
    if (!(region->flags & ~__atomic_load_n(&WATCH->doubted, __ATOMIC_RELAXED) & WATCH_STEADY))
        return false;
    return !(region->flags & WATCH_HEAP) ||
           region->address + region->size <= *(volatile const uint64_t *)WATCH_QUICK->break_at;
}
/* Regions in [BEGIN, END) cannot be read without asking any more.  The lock is held. */
void quipu_watch_unsteady(uint64_t begin, uint64_t end);
/* Whether a store of so many bytes may touch a region; the first knows but where all are. */
bool quipu_watch_may_reach(uint64_t address, uint64_t length);
bool quipu_watch_may_touch(uint64_t address, uint64_t length);
/* Whether the C library may keep memory of its own there. */
bool quipu_watch_may_be_library(const struct watch_region *region);
/* A stream was given memory of the program's; and pages may not be readable any more. */
void quipu_watch_note_stream(uint64_t address, uint64_t length);
void quipu_watch_note_pages(uint64_t address, uint64_t length);

/* ---- bytes.c ---- */

/* Reads the program's memory.  What cannot be read is left as it is; returns how many bytes from
 * the first on could be. */
uint64_t quipu_watch_read(void *to, uint64_t from, uint64_t size);
/* Whether all of [ADDRESS, END) could be read. */
bool quipu_watch_is_readable(uint64_t address, uint64_t end);

/* formats.c: whether printf's format at ADDRESS has a conversion that writes, or may. */
bool quipu_watch_writes_by_format(uint64_t address);
/* A copy's memory, of more than WATCH_INLINE bytes.  The lock is held. */
uint8_t *quipu_watch_new_copy(uint64_t size);
void quipu_watch_free_copy(uint8_t *copy, uint64_t size);

/* ---- region.c, find.c ---- */

/* Makes a region.  Returns its id, or minus an error's number. */
int64_t quipu_watch_add(uint64_t address, uint64_t size, uint64_t handler, uint64_t argument,
                        uint32_t flags);
/* Returns 0, or -ENOENT. */
int quipu_watch_remove(int64_t id);
/* Finds regions that overlap [ADDRESS, END), whose indices are at least FROM: the WATCH_BATCH
 * lowest, in order.  Returns how many.  They may be gone already. */
unsigned quipu_watch_find(uint64_t address, uint64_t end, uint32_t from,
                          uint32_t found[WATCH_BATCH]);
/* Whether a granule of [ADDRESS, END) is marked: each that a region touches is. */
bool quipu_watch_is_marked(uint64_t address, uint64_t end);
/* Copies a region's record.  Returns whether it is one that overlaps [ADDRESS, END). */
bool quipu_watch_look(uint32_t index, uint64_t address, uint64_t end, struct watch_region *region);

/* The same where the lock is held; WANTED has address, size, handler, argument and flags. */
int64_t quipu_watch_add_locked(const struct watch_region *wanted);
void quipu_watch_remove_locked(int64_t id);
/* There may be no region any more, and nothing that asks for one.  The lock is held. */
void quipu_watch_disarm(void);
/* There is one. */
void quipu_watch_arm(void);
/* Reads the bytes of regions that are new: from then on their copies are known. */
void quipu_watch_read_new(void);

/* ---- heap.c: blocks of the heap ---- */

/* The request with that NUMBER, whose module has that BIAS, asks for blocks.  Returns 0, or minus
 * an error's number. */
int quipu_watch_ask_for_blocks(uint32_t number, uint64_t bias);
/* It does no more: its blocks are let go. */
void quipu_watch_let_blocks_go(uint32_t number);
/* A block at ADDRESS is being freed, or may be moved by the call whose stack pointer is STACK. */
void quipu_watch_block_freeing(uint64_t address);
void quipu_watch_block_moving(uint64_t address, uint64_t stack);
/* The call that returned to PC has freed the block at ADDRESS ... */
void quipu_watch_block_freed(uint64_t address, uint64_t pc);
/* ... or has made the one of SIZE bytes at ADDRESS ... */
void quipu_watch_block_made(uint64_t address, uint64_t size, uint64_t pc);
/* ... or was to make that out of the one at OLD, which may be 0; at ADDRESS 0 it did not. */
void quipu_watch_block_moved(uint64_t old, uint64_t address, uint64_t size, uint64_t pc,
                             uint64_t stack);
/* Has copies of regions of freed blocks at ADDRESS hold what is there: allocators write there. */
void quipu_watch_refresh_freed(uint64_t address);
/* What REGION, of a block, is a region of.  Returns whether it still is. */
bool quipu_watch_describe_block(uint32_t index, const struct watch_region *region,
                                struct quipu_block *block);

/* ---- call.c ---- */

/* Regions have been read or compared since BEGIN, a time stamp: where there are many, they are not
 * for a while. */
void quipu_watch_put_off_comparison(uint64_t begin);
/* What a callee may write beside ranges. */
enum watch_reach {
    WATCH_REACHES_RANGES,
    WATCH_REACHES_LIBRARY, /* the C library's own memory */
    WATCH_REACHES_ALL,
};
enum watch_reach quipu_watch_reach(uint32_t row);
/* Where the call is that STUB and TOLD say, as in struct watch_under_way: a hit's pc. */
uint64_t quipu_watch_place_of_call(uint64_t stub, uint32_t told);

/* ---- open.c: pairs and calls that are open ---- */

/* Those that stand for the stack pointer: the one there is, or NULL; or one to fill in. */
struct watch_pair *quipu_watch_find_pair(uint64_t stack);
struct watch_pair *quipu_watch_take_pair(uint64_t stack);
struct watch_call *quipu_watch_find_call(uint64_t stack);
/* Counts it in `calling`. */
struct watch_call *quipu_watch_take_call(uint64_t stack);
/* They have told of what they wrote. */
void quipu_watch_close_pair(struct watch_pair *pair);
void quipu_watch_close_call(struct watch_call *call);
/* Forgets calls of this thread that can end no more; the calling function's stack is at STACK. */
void quipu_watch_drop_left_calls(uint64_t stack);
/* Whether a store or a call of a known function, which tells of the range itself, is open.  STACK
 * is the asking thread's stack pointer. */
enum watch_openness {
    WATCH_NOT_OPEN,
    WATCH_OPEN_HERE, /* the asking thread's is */
    WATCH_OPEN_ELSEWHERE
};
enum watch_openness quipu_watch_is_open(uint64_t address, uint64_t end, uint64_t stack);

/* ---- tell.c ---- */

/* quipu.h's, which is the program's. */
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

/* A write, as it is told. */
struct watch_write {
    uint64_t address;
    uint64_t length; /* not 0 */
    uint64_t pc;
    uint64_t place;                  /* address that its ticks are asked for at */
    uint32_t cause;                  /* enum quipu_cause */
    bool if_changed;                 /* tell only where a byte is another than before */
    const struct watch_pair *pair;   /* what was; NULL: the copy of the region is */
    uint64_t made;                   /* regions made since are not known by their copies */
    uint64_t stack;                  /* of QUIPU_CAUSE_CHANGE: stack pointer at what was compared */
    struct watch_hold *hold;         /* of what is written */
    struct watch_suspects *suspects; /* who else may have changed it */
    uint32_t skipped;                /* of a call's ranges: as in struct watch_call */
    bool is_sure;                    /* what was there is as last known */
};

/* Whether what is told to have been there is what the write to REGION has replaced. */
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

/* Tells of the write to one region, whose copy is brought up to date. */
void quipu_watch_tell(uint32_t index, const struct watch_write *write);
/* Tells of the write to all regions that it touches. */
void quipu_watch_tell_all(const struct watch_write *write);
/* Pins the region that has the number INDEX, if it is of GENERATION.  Returns it, or NULL. */
struct watch_region *quipu_watch_pin(uint32_t index, uint32_t generation);
void quipu_watch_unpin(struct watch_region *region);
/* Has the copies of regions in [ADDRESS, END) hold what is there now. */
void quipu_watch_refresh(uint64_t address, uint64_t end);
/* What is told of a write: FROM and COUNT, of at most MOST bytes, within the region. */
struct watch_window {
    uint64_t from;
    uint64_t count;
};
/* Sets the window's bytes as they were and as they are, and brings the copy up to date.  Returns
 * whether the region is still there and the write is to be told. */
bool quipu_watch_fill(uint32_t index, const struct watch_region *region,
                      const struct watch_write *write, struct watch_window *window, uint8_t *old,
                      uint8_t *now);
/* In a forked child: the other threads are not there. */
void quipu_watch_forget_handlers(void);

/* ---- frame.c ---- */

/* Whether the process has no thread TID, the kernel's number, any more. */
/* Behind a store, at which the stack pointer was 128 bytes above STACK: the runtime has run where
 * the locals of a frame that is not made yet will be.  What the bytes there are now is known from
 * here on. */
void quipu_watch_refresh_frame(uint64_t stack);

bool quipu_watch_thread_is_gone(uint32_t tid);
/* Watches OFFSET from the CFA in each call of FUNCTION, for request NUMBER.  Returns 0 or minus the
 * error's number; -EAGAIN: its module has not begun yet. */
long quipu_watch_add_local(uint32_t number, const struct watch_local *local);
/* Likewise OFFSET from the thread pointer in the calling thread, and in each that begins from now
 * on; -EOPNOTSUPP: in the calling one alone. */
long quipu_watch_add_thread_local(uint32_t number, const struct watch_local *local);
/* The calling thread has begun, or is about to end. */
void quipu_watch_thread_began(void);
void quipu_watch_thread_ended(void);
/* Whether request NUMBER is for a local at that place. */
bool quipu_watch_has_local(uint32_t number, uint64_t function);
void quipu_watch_remove_local(uint32_t number);
/* Whether the region's activation is known to have ended. */
bool quipu_watch_is_left(const struct watch_region *region);
/* In a forked child, with the lock held: the other threads are not there. */
void quipu_watch_forget_activations(void);

/* ---- thread.c ---- */

/* Has modules tell of threads that they begin.  BEGIN and END are the calling module's.  Returns 0
 * or minus the error's number; -EOPNOTSUPP where that cannot be. */
long quipu_watch_lead_threads(uint64_t begin, uint64_t end);
/* ---- loops.c ---- */

/* A region has been made: has loops that run without checks go on with them.  Returns 0 or minus
 * the error's number.  The lock is held. */
long quipu_watch_stop_loops(void);
/* In a forked child, with the lock held: the other threads are not there. */
void quipu_watch_forget_loops(void);

/* ---- log.c, request.c ---- */

/* Maps the file, if there is one. */
void quipu_watch_open_log(char **environment);
/* Maps the file at PATH in place of the one there is, of which nobody reads, and looks at its
 * requests.  Returns 0 or minus an error's number; -EBUSY: that one is read. */
long quipu_watch_change_log(const char *path);
/* All regions of requests go. */
void quipu_watch_drop_requests(void);
/* Makes and removes regions as the requests say. */
void quipu_watch_look_at_requests(void);
/* Writes a hit.  Signals are as the program has them. */
void quipu_watch_log(uint32_t index, const struct watch_region *region,
                     const struct watch_write *write, struct watch_window window);
/* Tells that this module is there, in a process or file that has not been told so. */
void quipu_watch_announce(void);
/* Whether somebody reads hits of that file. */
bool quipu_watch_is_read(const struct quipu_watch_file *file);
/* Room in the file's ring for SIZE bytes, a multiple of 8; waits for it.  Returns NULL where no one
 * reads.  Else, with MASK, signals are blocked, and that is what they were. */
struct quipu_record *quipu_watch_reserve(struct quipu_watch_file *file, uint32_t size,
                                         uint64_t *mask);
/* Completes a record, and wakes the consumer. */
void quipu_watch_publish(struct quipu_record *record, uint32_t size, uint32_t kind);
uint32_t quipu_watch_pid(void);

/* ---- trap.c ---- */

/* Registers that the runtime's functions keep. */
struct watch_kept {
    uint64_t r15, r14, r13, r12, rbx;
};

/* The calling thread gets SIGTRAP when the runtime returns to what has written, with CAUSE as in a
 * hit. */
void quipu_watch_trap(uint32_t cause);

/* ---- moment/moment.c, where inserted code counts ticks ---- */

/* The calling thread's ticks at ADDRESS, in the module's code, which it has just come from; and its
 * number. */
void quipu_moment_at(uint64_t address, uint64_t *ticks, uint32_t *thread) __attribute__((weak));
WEAK_HERE(quipu_moment_at);

/* ---- visit.c ---- */

/* What the home's `visit` is; it does not return. */
void quipu_watch_visited(const char *path);

/* event/handler.S */
void quipu_call_handler(uint64_t handler, const void *first, uint64_t argument);

#endif
