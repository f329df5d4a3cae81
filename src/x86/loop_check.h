/* loop_check.h: the instructions that choose between a loop with checks and its copy without them
 * (Wahbe, Lucco and Graham 1993, section 4).
 *
 * AT&T syntax, joined by ';', on one line.  The contract with the runtime is format/watch.h.
 * Labels of loop LABEL: .LQlp the choice, .LQlu the copy's head, .LQlc_N the checked block N. */
#ifndef QUIPU_X86_LOOP_CHECK_H
#define QUIPU_X86_LOOP_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

/* What all the text of one loop has in common. */
struct loop_text {
    uint32_t label;
    uint32_t head;          /* number of its first block */
    bool shared;            /* code may be linked into a shared object */
    struct frame_row frame; /* in all of the loop */
};

/* Where the loop is entered: goes to the copy where nothing is watched, else to .LQla where
 * ASKS_WHERE, else behind itself.  Changes %r11 and the flags. */
void write_loop_choice(struct buffer *out, const struct loop_text *loop, bool asks_where);

/* Out of line: the thread's word is not free. */
void write_loop_refusal(struct buffer *out, const struct loop_text *loop);

/* Behind a unit that has such loops: the name of the thread's word. */
void write_loop_symbols(struct buffer *out);

/* The thread has left the copy.  Changes %r11 where the code is SHARED, no flags. */
void write_loop_release(struct buffer *out, bool shared);

/* The copy's backward jump number JUMP to its block TARGET, by MNEMONIC, and its row of the table
 * of sites; out of line, where it leads when the copy is closed: to the checked block. */
void write_loop_jump(struct buffer *out, const struct loop_text *loop, struct span mnemonic,
                     uint32_t jump, uint32_t target);
void write_loop_row(struct buffer *out, const struct loop_text *loop, uint32_t jump,
                    uint32_t target);
void write_loop_way_out(struct buffer *out, const struct loop_text *loop, uint32_t jump,
                        uint32_t target);

#endif
