/* unit.h: one assembly file as the shim sees it: text, statements, sections, symbols, functions.
 *
 * The text itself is never changed. Statements are spans of it, and the changes of the shim are a
 * list of edits (emit.h). So all other text is output byte for byte.
 *
 * Stages fill it in:  parse_unit: text, statements, sections, symbols, references
 *                     find_functions: functions
 *                     measure_unit (x86/measure.h): the decoded bytes of each instruction
 *                     leave_distances (distances.h): functions that must stay as they are
 *                     find_scratch_keepers (flow/graph.h): functions that may change %r11 */
#ifndef QUIPU_ASM_UNIT_H
#define QUIPU_ASM_UNIT_H

#include "asm/lex.h"
#include "util/arena.h"
#include "util/map.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    NONE = UINT32_MAX
}; /* no symbol, no statement, no section */

enum statement_kind {
    STATEMENT_LABEL,
    STATEMENT_DIRECTIVE,
    STATEMENT_INSTRUCTION,
};

struct statement {
    uint32_t start, end; /* span of the text: its first character, and the one behind its last; a
                            label's colon is part of it */
    uint32_t line;       /* physical line, from 1 */
    uint32_t section;    /* index into unit.sections */
    uint32_t symbol;     /* label: its symbol; instruction: the symbol of a direct branch, or
                            NONE */
    uint8_t kind;
    bool prefix : 1;     /* only a prefix (lock, rep, .byte 0x66) of the next instruction */
    bool inline_asm : 1; /* the user's, between #APP and #NO_APP */
    bool aligns : 1;     /* .p2align, .balign, .align: may insert padding */
    bool data : 1;       /* any other directive that outputs bytes here */
    bool opaque : 1;     /* a macro or a conditional: its content is unknown */
    bool intel : 1;      /* under .intel_syntax */
    bool unwinds : 1;    /* between .cfi_startproc and .cfi_endproc */
    bool begins : 1;     /* the first after a change of the section */
    bool ends_asm : 1;   /* a label that is behind all instructions of its inline assembly */
    bool expands : 1;    /* a use of a macro with instructions or labels */
    bool kept : 1;       /* nothing may be inserted before it: the program overwrites it */
};

struct section {
    const char *name;      /* ".text" */
    const char *directive; /* the line that enters it: ".section .text.f,\"ax\",@progbits" */
    bool executable;
    bool ignored;                /* debugging information and notes: its text is skipped */
    bool exceptions;             /* .gcc_except_table */
    bool patches;                /* addresses at which the program may change code */
    bool describes;              /* unwinding and debugging information: its addresses are only
                                    read */
    bool unwinds;                /* parse_unit: after a .cfi_startproc without its .cfi_endproc */
    bool subsections;            /* its text is not in the order of its bytes */
    VECTOR(uint32_t) statements; /* in the order of its bytes, unless it has subsections */
};

struct symbol {
    const char *name; /* in the text or the arena, not NUL-terminated */
    uint32_t length;
    uint32_t statement; /* its label; NONE: this unit's text does not define it */
    bool local : 1;     /* .L: the linker does not see it */
    bool global : 1;
    bool weak : 1;
    bool function : 1;      /* .type @function */
    bool indirect : 1;      /* .type @gnu_indirect_function */
    bool aliased : 1;       /* .set or = gives it a value or uses it as one */
    bool branch_target : 1; /* an instruction jumps to it directly */
    bool address_taken : 1; /* its address is in data or in a register: an indirect jump may lead
                               there */
    bool landing_pad : 1;   /* an exception table directs the unwinder there */
    bool outside_entry : 1; /* code outside the function may enter there */
    bool pinned : 1;        /* its address is recorded: nothing may come between it and its
                               instruction */
    bool returned_to : 1;   /* its address is recorded, and the call before it returns there:
                               nothing may come between both */
    bool switched : 1;      /* the program changes its no-operation into a jump, or its jump into a
                               no-operation */
    bool left_unseen : 1;   /* control may leave its instruction for an unknown address */
};

/* ".set name, value": symbols. A value with several symbols has one assignment for each. */
struct assignment {
    uint32_t name, value;
};

/* A symbol's name in data (jump tables, label arrays; not exception tables), or in an instruction
 * that takes its address. */
struct reference {
    uint32_t symbol;
    uint32_t statement;
};

/* A .loc directive. The assembler ignores those of line 0, so the location before stays in force.
 */
struct location {
    uint32_t statement;     /* the first to which it applies */
    uint32_t start, length; /* of the text of its file, line and column */
    bool is_statement;      /* debuggers may stop there ... */
    bool next_is_statement; /* ... and at the next one, unless its directive says otherwise */
    bool has_view;          /* it has a number among the locations of one address */
};

/* A line marker, '# 12 "file.S"', or a .file that names another source for the lines behind it. */
struct line_marker {
    uint32_t statement;   /* the first to which it applies */
    uint32_t line;        /* this line of the text ... */
    uint32_t number;      /* ... has this number, and those behind it the next ones, ... */
    uint32_t file;        /* ... in the file with this name in the text, in quotes, ... */
    uint32_t file_length; /* ... or in the text itself, by its own name and lines, if this is 0 */
};

/* A part of a section that belongs to one function. */
struct fragment {
    uint32_t symbol; /* its label */
    uint32_t section;
    uint32_t first, last; /* statements [first, last) of section.statements */
};

struct asm_function {
    uint32_t symbol;
    VECTOR(struct fragment) fragments; /* the first contains the entry */
    bool compiled;                     /* made by a compiler: calling conventions hold */
    bool bare;                         /* it has no instruction and no data */
    const char *left_alone;            /* the reason, or NULL */
    bool resolves;                     /* an ifunc resolver: left alone without a warning */
    bool returns_elsewhere; /* flow/return_addresses.c: callers in other files must know */
    bool keeps_scratch;     /* flow/scratch.c: callers may keep a value in %r11 */
    bool switches_stacks;   /* flow/stack_pointers.c: hand-written; may end on another stack */
    uint32_t line;          /* of the entry's label */
};

struct unit {
    struct arena arena;
    const char *name; /* of the input file, for messages */
    const char *text;
    size_t size;
    VECTOR(struct statement) statements;
    VECTOR(struct section) sections;
    VECTOR(struct symbol) symbols;
    VECTOR(struct reference) references;
    VECTOR(struct assignment) assignments;
    VECTOR(struct location) locations;  /* in the order of the text */
    VECTOR(uint32_t) files;             /* by number: the statement of its .file, or NONE */
    VECTOR(struct line_marker) markers; /* in the order of the text */
    VECTOR(struct asm_function) functions;
    struct map symbol_index;
    uint32_t *function_of;     /* by statement: its function, or NONE */
    const char *source;        /* .file, or "" */
    const char *compiler;      /* .ident, or "" */
    bool compiled;             /* made by a compiler: it has .ident, .LFB labels (gcc) or
                                  .Lfunc_begin labels (clang) */
    bool counts_lines;         /* .line, .linefile: renumbers lines in ways of its own */
    bool numbered;             /* the assembler finds each instruction's line by itself, as -g has
                                  it do for text without .loc */
    bool inline_asm;           /* a statement is the user's, between #APP and #NO_APP */
    bool has_macros;           /* .macro, .rept, .if, .include: the text is not what is assembled */
    bool keeps_scratch;        /* flow/scratch.c: callers of all its functions may keep a value
                                  in %r11 */
    struct machine_code *code; /* of measure_unit */
};

/* Reads TEXT into statements. TEXT must outlive the unit. Never fails: statements that it does not
 * understand become opaque. */
void parse_unit(struct unit *unit, const char *name, const char *text, size_t size);

/* Returns the label with which the fragment begins. */
const struct statement *fragment_label(const struct unit *unit, const struct fragment *fragment);

/* Finds functions and their fragments, and records which must be left alone, with the reason. */
void find_functions(struct unit *unit);

/* From now on, a fault (util/fault.h) is reported for function NUMBER. NONE: for no single
 * function. */
void tell_subject(const struct unit *unit, uint32_t number);

/* Whether the statement is hand-written, not made by a compiler. */
static inline bool is_hand_written(const struct unit *unit, const struct statement *statement) {
    return !unit->compiled || statement->inline_asm;
}

/* Whether any statement may be hand-written. */
static inline bool has_hand_written(const struct unit *unit) {
    return !unit->compiled || unit->inline_asm;
}

/* Leaves the function of STATEMENT alone, for REASON. Does nothing if there is none, or it is left
 * alone already. */
static inline void leave_function_of(struct unit *unit, uint32_t statement, const char *reason) {
    uint32_t function = unit->function_of[statement];
    if (function != NONE && !unit->functions.data[function].left_alone)
        unit->functions.data[function].left_alone = reason;
}

/* Returns the name in `symbols` of the numeric label that NAME ("1b", "12f") leads to. The name is
 * in ARENA. COUNTS: by a number, how many labels of that number there are so far. */
struct span numeric_label(struct arena *arena, const struct map *counts, struct span name);

/* Returns the symbol of that name. Adds it if there is none. */
uint32_t find_symbol(struct unit *unit, const char *name, size_t length);

/* Returns the length of the statement's first word (mnemonic, directive). */
size_t statement_word(const struct unit *unit, const struct statement *statement);

/* Whether the statement's first word is WORD. */
bool statement_is(const struct unit *unit, const struct statement *statement, const char *word);

#endif
