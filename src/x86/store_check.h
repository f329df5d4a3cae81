/* store_check.h: the instructions that ask, in front of a store, whether it may touch a watched
 * region, and what stands out of line for those that may (Wahbe, Lucco and Graham 1993).
 *
 * AT&T syntax, joined by ';', on one line.  The contract with the runtime is format/watch.h.
 */
#ifndef QUIPU_X86_STORE_CHECK_H
#define QUIPU_X86_STORE_CHECK_H

#include "x86/address.h"
#include "x86/sequence.h"

/* The no-operation that the runtime makes a jump, a format for buffer_print; bytes. */
#define SITE_TEXT "{disp8} nopl 0(%%rax,%%rax,1)"
#define SITE_SIZE 5

/* The check of a range that is left out until it is needed: a no-operation, within a line of
 * 64 bytes, which the runtime makes a jump. */
void write_site(struct buffer *out, uint32_t label);

/* What a check has changed on the way to the code out of line, which puts it back first. */
enum check_way {
    CHECK_CHANGES_NOTHING,
    CHECK_KEEPS_IN_RAX,   /* flags are in %rax */
    CHECK_KEEPS_ON_STACK, /* %rax is on the stack, below the red zone */
    CHECK_KEEPS_ALL,      /* and so are the flags, below it */
};

/* Whether one look at the shadow tells of all its bytes. */
bool is_seen_at_once(const struct store *store);

/* Writes the check of ADDRESS, which changes nothing but what CLOBBERS allows.  Where a region may be
 * touched it jumps to .LQx LABEL. */
enum check_way write_store_check(struct buffer *out, const struct store_address *address,
                                 const struct clobbers *clobbers, uint32_t label);

/* Out of line, first: puts back what the check has changed. */
void write_check_end(struct buffer *out, enum check_way way, const struct frame_row *frame);

/* In front of a copy of the store of LENGTH bytes, and behind it.  Keeps every register and flag.
 */
void write_store_begin(struct buffer *out, const struct store_address *address, uint8_t length,
                       const struct frame_row *frame);
void write_store_end(struct buffer *out, const struct store *store, const struct frame_row *frame);

/* All of what stands for a call's store, of the address .LQy LABEL: it is not copied. */
void write_call_store(struct buffer *out, uint32_t label, const struct frame_row *frame);

/* Goes to the label BACK LABEL where nothing of QUIPU_WATCH_SPAN bytes below the stack pointer is
 * watched.  Changes the flags. */
void write_below_stack_pointer(struct buffer *out, const char *back, uint32_t label);

/* What enter stores first. */
void write_frame_pointer(struct buffer *out, const struct frame_row *frame);

/* In front of code that runs before the constructors: has the runtime start.  Registers and flags
 * are kept, but not what lies below the stack pointer. */
#define WATCH_INIT_CALL "call quipu_watch_init"
#define WATCH_INIT_NAME "\t.hidden quipu_watch_init\n"

/* Behind the unit: the names of the runtime's.  Of executables, its start comes before all other
 * code; SHARED objects cannot have that. */
void write_watch_symbols(struct buffer *out, bool shared);

#endif
