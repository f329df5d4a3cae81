/* loop_check.h: the instructions that choose between a loop with checks and its copy without checks
 * (Wahbe, Lucco and Graham 1993, section 4).
 *
 * AT&T syntax, joined by ';', on one line. format/watch.h is the contract with the runtime. Labels
 * of loop LABEL: .LQlp the choice, .LQlu the copy's head, .LQlc_N the checked block N. */
#ifndef QUIPU_X86_LOOP_CHECK_H
#define QUIPU_X86_LOOP_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

/* Common to all the text of one loop. */
struct loop_text {
    uint32_t label;
    uint32_t head;          /* number of its first block */
    bool shared;            /* code may be linked into a shared object */
    struct frame_row frame; /* the same in the whole loop */
};

/* At the entry of the loop. Jumps to the copy if nothing is watched. Otherwise jumps to .LQla if
 * ASKS_WHERE, or continues behind itself. Changes %r11 and the flags. */
void write_loop_choice(struct buffer *out, const struct loop_text *loop, bool asks_where);

/* Out of line: the code for a loop word that is not free. */
void write_loop_refusal(struct buffer *out, const struct loop_text *loop);

/* Behind a unit with such loops: the directives for the name of the loop word. */
void write_loop_symbols(struct buffer *out);

/* The thread leaves the copy. Changes %r11 if the code is SHARED, and no flags. */
void write_loop_release(struct buffer *out, bool shared);

/* The copy's backward jump number JUMP to its block TARGET, by MNEMONIC; its row in the table of
 * sites; and, out of line, the code to which it leads while the copy is closed. That continues at
 * the checked block. */
void write_loop_jump(struct buffer *out, const struct loop_text *loop, struct span mnemonic,
                     uint32_t jump, uint32_t target);
void write_loop_row(struct buffer *out, const struct loop_text *loop, uint32_t jump,
                    uint32_t target);
void write_loop_way_out(struct buffer *out, const struct loop_text *loop, uint32_t jump,
                        uint32_t target);

#endif
