/* store_check.h: the instructions before a store that test whether it may touch a region, and the
 * code out of line for stores that may (Wahbe, Lucco and Graham 1993).
 *
 * AT&T syntax, joined by ';', on one line. format/watch.h is the contract with the runtime. */
#ifndef QUIPU_X86_STORE_CHECK_H
#define QUIPU_X86_STORE_CHECK_H

#include "x86/address.h"
#include "x86/sequence.h"

/* The no-operation that the runtime makes a jump, as a format for buffer_print; its size in
 * bytes. */
#define SITE_TEXT "{disp8} nopl 0(%%rax,%%rax,1)"
#define SITE_SIZE 5

/* The check of a range that is left out until it is needed. In its place is a no-operation, within
 * a line of 64 bytes, which the runtime makes a jump. */
void write_site(struct buffer *out, uint32_t label);

/* State that a check has changed when it jumps out of line. The code there first restores it. */
enum check_effect {
    CHECK_CHANGES_NOTHING,
    CHECK_KEEPS_IN_RAX,   /* the flags are in %rax */
    CHECK_KEEPS_ON_STACK, /* %rax is on the stack, below the red zone */
    CHECK_KEEPS_ALL,      /* so are the flags, below it */
};

/* Whether one test of the shadow covers all bytes of the store. */
bool is_seen_at_once(const struct access *store);

/* Writes the check of ADDRESS, which changes only what CLOBBERS allows. It jumps to .LQx LABEL if
 * the store may touch a region. */
enum check_effect write_store_check(struct buffer *out, const struct access_address *address,
                                    const struct clobbers *clobbers, uint32_t label);

/* Out of line, first: restores what the check has changed. */
void write_check_end(struct buffer *out, enum check_effect effect, const struct frame_row *frame);

/* Before and behind a copy of the store of LENGTH bytes. Keeps every register and flag. */
void write_store_begin(struct buffer *out, const struct access_address *address, uint8_t length,
                       const struct frame_row *frame);
void write_store_end(struct buffer *out, const struct access *store, const struct frame_row *frame);

/* All code out of line for a call that stores its return address, .LQy LABEL. It contains no copy
 * of the call. */
void write_call_store(struct buffer *out, uint32_t label, const struct frame_row *frame);

/* Jumps to the label BACK LABEL if none of the QUIPU_WATCH_SPAN bytes below the stack pointer is
 * watched. Changes flags. */
void write_below_stack_pointer(struct buffer *out, const char *back, uint32_t label);

/* The first store of enter: the frame pointer. */
void write_frame_pointer(struct buffer *out, const struct frame_row *frame);

/* Before code that runs before the constructors: starts the runtime. Keeps registers and flags, but
 * not the memory below the stack pointer. */
#define WATCH_INIT_CALL "call quipu_watch_init"
#define WATCH_INIT_NAME "\t.hidden quipu_watch_init\n"

/* The same at the begin of a function that others may call before the constructors. The flags are
 * not kept. */
#define WATCH_EARLY_CALL "call quipu_watch_interposed"
#define WATCH_EARLY_NAME "\t.hidden quipu_watch_interposed\n"

/* Behind the unit: directives for the names of the runtime. In executables, they make the runtime
 * start before all other code. SHARED objects cannot have that. */
void write_watch_symbols(struct buffer *out, bool shared);

#endif
