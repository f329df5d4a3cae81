/* inside.h: what the parts of the code inside share. The assembly code reads it, too. */
#ifndef QUIPU_INSIDE_INSIDE_H
#define QUIPU_INSIDE_INSIDE_H

/* Results of inside_make_call. */
#define INSIDE_LEFT  0 /* the site's own instruction makes the call */
#define INSIDE_MADE  1
#define INSIDE_WAITS 2 /* the thread goes to state->own_place, and waits there */

#ifndef __ASSEMBLER__

#include "format/inside.h"

#include <stdbool.h>

enum {
    ARGUMENTS = 6
};

/* A call of the program. */
struct call {
    uint64_t number, arguments[ARGUMENTS];
    int64_t result;
    const struct quipu_inside_row *row;
};

static struct quipu_inside_state *const state = (void *)QUIPU_INSIDE_STATE;

/* ---- entry.S ---- */

/* Makes a system call by the instruction at INSTRUCTION, a name of entry.S. POINTER is in %rbx. */
#define MAKE_CALL_AT(instruction, pointer, number, arguments)                                      \
    ({                                                                                             \
        int64_t result_;                                                                           \
        register uint64_t r10 __asm__("r10") = (arguments)[3];                                     \
        register uint64_t r8 __asm__("r8") = (arguments)[4];                                       \
        register uint64_t r9 __asm__("r9") = (arguments)[5];                                       \
        __asm__ volatile("call " instruction                                                       \
                         : "=a"(result_)                                                           \
                         : "a"(number), "b"(pointer), "D"((arguments)[0]), "S"((arguments)[1]),    \
                           "d"((arguments)[2]), "r"(r10), "r"(r8), "r"(r9)                         \
                         : "rcx", "r11", "memory");                                                \
        result_;                                                                                   \
    })

/* ---- inside.c ---- */

/* entry.S calls it, with the program's registers. Returns INSIDE_LEFT, _MADE or _WAITS. */
int inside_make_call(struct quipu_inside_frame *frame);

/* Sets CALL to the one of FRAME. */
void inside_read_call(struct call *call, const struct quipu_inside_frame *frame);

/* Returns the row of the call, or NULL if it is left. */
const struct quipu_inside_row *inside_find_row(const struct call *call);

/* Whether the log has room for any call. */
bool inside_has_room(void);

/* Adds CALL, which was made, to the log. HASH is that of the registers in front of it. */
void inside_add_call(const struct call *call, uint32_t hash);

/* Adds that the thread that has the turn enters CALL, and others get the turn. */
void inside_add_entry(const struct call *call, uint32_t hash);

/* ---- wait.c ---- */

/* Whether a thread whose call waits can do so here. */
bool inside_may_wait_here(void);

/* Takes a place for the thread, which has the turn and enters CALL. */
void inside_take_place(const struct quipu_inside_frame *frame, uint32_t hash);

/* entry.S calls it on the stack of the place, where it makes the call and waits for the turn. Then
 * the registers are those behind the call. Returns INSIDE_MADE. */
int inside_wait(struct quipu_inside_waiter *waiter);

#endif
#endif
