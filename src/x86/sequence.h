/* sequence.h: the instructions that are inserted, as text.
 *
 * AT&T syntax, joined by ';', on one line.  The contract with the runtime is format/cells.h,
 * event.h and moment.h. */
#ifndef QUIPU_X86_SEQUENCE_H
#define QUIPU_X86_SEQUENCE_H

#include "asm/frames.h"
#include "util/buffer.h"
#include "util/vector.h"
#include "x86/decode.h"

#include <stdbool.h>
#include <stdint.h>

/* What leads to the thread's cells: a register that holds their address, or the base of %gs, which
 * is the thread's distance from the static cells. */
enum {
    BASE_SEGMENT = 16
};

/* -ffixed-r11 keeps it free for the base, in code for shared objects. */
#define RESERVED_REGISTERS REGISTER_R11

/* Which cells an addition is to; each is counted from 1. */
enum cell_space {
    CELLS_OF_FUNCTION, /* the function's own */
    CELLS_OF_EVENTS,   /* the module's; n is kind n - 1, which has several */
};

/* In front of a direct jump: it is not to be a short one. */
#define LONG_JUMP_PREFIX "{disp32} "

/* Something that inserted code adds to one of the thread's cells. */
struct increment {
    uint8_t space; /* enum cell_space */
    uint32_t cell;
    uint8_t lane;   /* of an event: which of its cells; from 0 */
    int32_t amount; /* not 0 */
    bool turns;     /* AMOUNT, 1 or -1, is taken as often as %rcx tells */
};
typedef VECTOR(struct increment) increment_list;

/* A label right behind an addition: from there on the cell holds the sum.  Or the one of code that
 * was put out of line there, and adds nothing. */
struct increment_mark {
    uint32_t label;
    bool out_of_line;
    bool tests; /* that code is a countdown's test, and its row is to be written */
    struct increment increment;
};
typedef VECTOR(struct increment_mark) mark_list;

/* Common to all sequences of one function. */
struct code_context {
    uint32_t cells;        /* number of the function's cells label */
    enum cell_space space; /* whose address the base register holds */
    uint32_t *labels;      /* counter of labels in the unit */
    struct buffer *stubs;  /* what goes behind the function's last instruction, */
    bool stubs_are_far;    /* and surely further away than a short jump reaches */
    struct buffer *tests;  /* what goes there, too, and may be as far away as it likes */
    struct arena *arena;
    mark_list *marks; /* gets those of additions to events' cells; NULL: none is wanted */
};

/* What may be changed where an increment goes. */
struct clobbers {
    int base;        /* register that is to hold the thread's cells, or BASE_SEGMENT */
    bool base_holds; /* it does */
    bool base_free;  /* it may be loaded */
    uint16_t free;   /* registers that may be changed */
    uint32_t cycle;  /* instructions until the same additions are made again, or 0: not known */
    bool flags_free; /* all flags may be changed */
    bool flags_but_carry; /* all flags but carry may be changed */
    struct frame_row frame;
};

/* Where a base is loaded. */
struct load_place {
    struct frame_row frame;
    bool at_entry; /* the function has just been called: nothing is below the stack pointer */
};

/* Makes BASE lead to the thread's cells.  Changes flags. */
void write_load(struct buffer *out, const struct code_context *context, int base,
                const struct load_place *place);

/* The flags that must be dead where INCREMENTS are written and no flags are to be kept. */
uint8_t changed_flags(const increment_list *increments);

/* Makes the additions.  Changes nothing that CLOBBERS does not allow. */
void write_increments(struct buffer *out, const struct code_context *context,
                      const increment_list *increments, const struct clobbers *clobbers);

/* Calls the runtime where the kernel has just called this function as a signal handler: the third
 * argument then stands right above the return address.  Changes flags. */
void write_signal_check(struct buffer *out, const struct code_context *context,
                        const struct frame_row *frame);

/* The row of QUIPU_TESTS_SECTION of the test whose code out of line is LABEL's. */
void write_test_row(struct buffer *out, uint32_t label);

/* Bytes of the additions where no flags and no registers are kept; at most 7 more for each by a
 * register. */
uint32_t increments_size(const increment_list *increments, int base);

/* The name of a general register, without '%'. */
const char *register_name(int number);

/* A register of FREE other than %rax and NOT; -1: there is none. */
int find_scratch(uint16_t free, int not );

/* Flags to %rax and back: lahf keeps all but overflow, seto that one; adding 127 to 1 makes it
 * again.  Much cheaper than pushfq and popfq. */
#define SAVE_FLAGS    "lahf; seto %al; "
#define RESTORE_FLAGS "; addb $127, %al; sahf"

/* Unwinding directives for a stub that runs with FRAME, out of its place in the text. */
void write_frame(struct buffer *out, const struct frame_row *frame, int64_t pushed);
void write_frame_end(struct buffer *out, const struct frame_row *frame);
/* Within such a stub: from here on it runs with FRAME. */
void write_frame_change(struct buffer *out, const struct frame_row *frame);
/* The stack pointer has gone down by PUSHED bytes. */
void write_adjust(struct buffer *out, const struct frame_row *frame, int pushed);

enum {
    RED_ZONE = 128 /* bytes below the stack pointer that functions may use */
};

/* The stack pointer goes UP, or down, where the original's does not; INSTRUCTION pushes, or pops.
 * The unwinder knows of each by itself: a signal may come between two.  All end with
 * "; ", but write_last_move. */
void write_last_move(struct buffer *out, const struct frame_row *frame, int up);
void write_stack_move(struct buffer *out, const struct frame_row *frame, int up);
void write_push(struct buffer *out, const struct frame_row *frame, const char *instruction);
void write_pop(struct buffer *out, const struct frame_row *frame, const char *instruction);

/* Calls FUNCTION of the runtime below the red zone. */
void write_runtime_call(struct buffer *out, const struct frame_row *frame, const char *function);

/* The cells of a function: COUNT of them, and their labels, in the present section. */
void write_cells(struct buffer *out, uint32_t label, uint32_t count);

/* The conditional jump with the opposite condition: "jne" for "je".  NULL where the COUNT bytes at
 * MNEMONIC are no plain conditional jump. */
const char *inverted_condition(const char *mnemonic, size_t count);

/* The register of the candidates that is best as base comes first. */
enum {
    BASE_CANDIDATES = 9
};
extern const uint8_t base_candidates[BASE_CANDIDATES];

#endif
