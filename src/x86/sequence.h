/* sequence.h: the inserted instructions, as text.
 *
 * AT&T syntax, joined by ';', on one line. format/cells.h, event.h and moment.h are the contract
 * with the runtime. */
#ifndef QUIPU_X86_SEQUENCE_H
#define QUIPU_X86_SEQUENCE_H

#include "asm/frames.h"
#include "util/buffer.h"
#include "util/vector.h"
#include "x86/decode.h"

#include <stdbool.h>
#include <stdint.h>

/* How code reaches the thread's cells: by a register that contains their address, or by the base of
 * %gs, which is the bias. */
enum {
    BASE_SEGMENT = 16
};

/* -ffixed-r11 reserves it for the base register, in code for shared objects. */
#define RESERVED_REGISTERS REGISTER_R11

/* The cells that an increment changes. Their numbers begin at 1. */
enum cell_space {
    CELLS_OF_FUNCTION, /* the function's own */
    CELLS_OF_EVENTS,   /* the module's; n is kind n - 1, which has several cells */
};

/* Before a direct jump: it must not be a short one. */
#define LONG_JUMP_PREFIX "{disp32} "

/* An amount that inserted code adds to one of the thread's cells. */
struct increment {
    uint8_t space; /* enum cell_space */
    uint32_t cell;
    uint8_t lane;   /* of an event: the cell's lane */
    int32_t amount; /* not 0 */
    bool turns;     /* AMOUNT, 1 or -1, is added %rcx times */
};
typedef VECTOR(struct increment) increment_list;

/* A label directly behind an addition: from there on, the cell contains the sum. Or the label of
 * code that was put out of line, which adds nothing. */
struct increment_mark {
    uint32_t label;
    bool out_of_line;
    bool tests; /* this code tests a countdown, and needs a row */
    struct increment increment;
};
typedef VECTOR(struct increment_mark) mark_list;

/* Common to all sequences of one function. */
struct code_context {
    uint32_t cells;        /* number of the function's cells label */
    enum cell_space space; /* the cells whose address the base register contains */
    uint32_t *labels;      /* counter of labels in the unit */
    struct buffer *stubs;  /* text behind the function's last instruction, ... */
    bool stubs_are_far;    /* ... which a short jump surely cannot reach */
    struct buffer *tests;  /* text that is also behind it, at any distance */
    const char *line;      /* the line marker in front of such text, or NULL */
    struct arena *arena;
    mark_list *marks; /* gets the marks of additions to events' cells; NULL: none are needed */
};

/* What an increment may change at its position. */
struct clobbers {
    int base;             /* register for the address of the thread's cells, or BASE_SEGMENT */
    bool base_holds;      /* it leads to the thread's cells now */
    bool base_free;       /* it may be loaded */
    uint16_t free;        /* registers that may be changed */
    uint32_t cycle;       /* instructions until the same additions are made again, or 0: unknown */
    bool flags_free;      /* all flags may be changed */
    bool flags_but_carry; /* all flags but carry may be changed */
    bool red_zone_free;   /* memory below the stack pointer may be changed */
    struct frame_row frame;
};

/* The position at which a base is loaded. */
struct load_place {
    struct frame_row frame;
    bool at_entry; /* the function has just been called: nothing is below the stack pointer */
};

/* Puts CALL, a call of the runtime, out of line: .LQsLABEL, and JUMP back to .LQrLABEL behind it.
 * It runs below the red zone, unless PLACE is an entry. */
void write_stub(const struct code_context *context, uint32_t label, const char *call,
                const char *jump, const struct load_place *place);
/* Returns the prefix of a jump to such code. */
const char *stub_jump(const struct code_context *context);

/* Makes BASE lead to the thread's cells. Changes flags. */
void write_load(struct buffer *out, const struct code_context *context, int base,
                const struct load_place *place);

/* Returns the flags that must be dead at INCREMENTS if no flags are saved. */
uint8_t changed_flags(const increment_list *increments);

/* Whether write_increments makes BASE lead to the thread's cells if it does not do so yet, where
 * BASE and all flags may be changed. */
bool increments_load(const struct code_context *context, const increment_list *increments,
                     int base);

/* Makes the additions. Changes only what CLOBBERS allows. */
void write_increments(struct buffer *out, const struct code_context *context,
                      const increment_list *increments, const struct clobbers *clobbers);

/* Calls the runtime if the kernel has just called this function as a signal handler: then the third
 * argument is the address directly above the return address. Changes flags. */
void write_signal_check(struct buffer *out, const struct code_context *context,
                        const struct frame_row *frame);

/* The row in QUIPU_TESTS_SECTION for the test whose code out of line has LABEL. */
void write_test_row(struct buffer *out, uint32_t label);

/* Returns the size of the additions in bytes if no flags and registers are saved. Each may need at
 * most 7 more if its address is in a register. */
uint32_t increments_size(const increment_list *increments, int base);

/* The name of a general register, without '%'. */
const char *register_name(int number);

/* Returns a register of FREE other than %rax and NOT, or -1 if there is none. */
int find_scratch(uint16_t free, int not );

/* Flags to %rax and back. lahf saves all but overflow, which seto saves. Adding 127 to 1 sets
 * overflow again. This is much cheaper than pushfq and popfq. */
#define SAVE_FLAGS    "lahf; seto %al; "
#define RESTORE_FLAGS "; addb $127, %al; sahf"

/* Unwinding directives for a stub with unwinder's row FRAME, out of line. The stack pointer is
 * PUSHED bytes lower. */
void write_frame(struct buffer *out, const struct frame_row *frame, int64_t pushed);
void write_frame_end(struct buffer *out, const struct frame_row *frame);
/* Within such a stub: from here on its row is FRAME. */
void write_frame_change(struct buffer *out, const struct frame_row *frame);
/* The stack pointer has decreased by PUSHED bytes. */
void write_adjust(struct buffer *out, const struct frame_row *frame, int pushed);

/* Moves the stack pointer UP bytes (down if negative), or writes INSTRUCTION, which pushes or pops;
 * the original code does not. Each has its own unwinding directives, since a signal may arrive
 * between two. All end with "; ", except write_last_move and write_last_pop. */
void write_last_pop(struct buffer *out, const struct frame_row *frame, const char *instruction);
void write_last_move(struct buffer *out, const struct frame_row *frame, int up);
void write_stack_move(struct buffer *out, const struct frame_row *frame, int up);
void write_push(struct buffer *out, const struct frame_row *frame, const char *instruction);
void write_pop(struct buffer *out, const struct frame_row *frame, const char *instruction);

/* Calls FUNCTION of the runtime below the red zone. */
void write_runtime_call(struct buffer *out, const struct frame_row *frame, const char *function);

/* The COUNT cells of a function and their labels, in the current section. */
void write_cells(struct buffer *out, uint32_t label, uint32_t count);

/* Returns the conditional jump with the opposite condition: "jne" for "je". Returns NULL if the
 * COUNT bytes at MNEMONIC are not a plain conditional jump. */
const char *inverted_condition(const char *mnemonic, size_t count);

/* The best register for a base comes first. */
enum {
    BASE_CANDIDATES = 9
};
extern const uint8_t base_candidates[BASE_CANDIDATES];

#endif
