/* unit.h: one assembly file as the shim sees it: text, statements, sections, symbols, functions.
 *
 * The text stays the truth.  Statements are spans of it, and what the shim changes is a list of
 * edits (emit.h), so all that is not touched comes out byte for byte.
 *
 * Filled in by stage:  parse_unit: text, statements, sections, symbols, references
 *                      find_functions: functions
 *                      measure_unit (x86/measure.h): the machine's view of each instruction
 *                      leave_distances (distances.h): which of them stay as they are
 *                      find_scratch_keepers (flow/graph.h): which functions may change %r11 */
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
    uint32_t start, end; /* span of the text, from its first character to behind its last; a label's
                            colon is part of it */
    uint32_t line;       /* physical line, from 1 */
    uint32_t section;    /* index into unit.sections */
    uint32_t symbol;     /* label: the symbol; instruction: the one in a direct branch, or NONE */
    uint8_t kind;
    bool prefix : 1; /* a prefix alone (lock, rep, .byte 0x66): belongs to the next instruction */
    bool inline_asm : 1; /* the user's own, between #APP and #NO_APP */
    bool aligns : 1;     /* .p2align, .balign, .align: may put padding */
    bool data : 1;       /* any other directive that puts bytes here */
    bool opaque : 1;     /* a macro or a conditional: what it stands for is not known */
    bool intel : 1;      /* under .intel_syntax */
    bool unwinds : 1;    /* between .cfi_startproc and .cfi_endproc */
    bool begins : 1;     /* the first behind a change of the section */
    bool ends_asm : 1;   /* a label that no instruction of its inline assembly follows */
    bool expands : 1;    /* a macro's name, whose text has instructions or labels */
    bool kept : 1;       /* nothing comes in front of it: the program writes code there */
};

struct section {
    const char *name;      /* ".text" */
    const char *directive; /* the line that enters it: ".section .text.f,\"ax\",@progbits" */
    bool executable;
    bool ignored;                /* debugging and notes: its text is passed over */
    bool exceptions;             /* .gcc_except_table */
    bool patches;                /* places where the program may write code */
    bool describes;              /* unwinding and debugging: its addresses are read, no more */
    bool unwinds;                /* parse_unit: a .cfi_startproc waits for its .cfi_endproc */
    bool subsections;            /* its text is not in the order of its bytes */
    VECTOR(uint32_t) statements; /* in the order of its bytes */
};

struct symbol {
    const char *name; /* in the text or the arena, not NUL-terminated */
    uint32_t length;
    uint32_t statement; /* its label; NONE where it is not defined in this unit's text */
    bool local : 1;     /* .L: not seen by the linker */
    bool global : 1;
    bool weak : 1;
    bool function : 1;      /* .type @function */
    bool indirect : 1;      /* .type @gnu_indirect_function */
    bool aliased : 1;       /* .set or = gives it a value or uses it as one */
    bool branch_target : 1; /* some instruction jumps to it directly */
    bool address_taken : 1; /* its address is in data or in a register: an indirect jump may go
                               there */
    bool landing_pad : 1;   /* an exception table sends the unwinder there */
    bool outside_entry : 1; /* code outside of the function may come here */
    bool pinned : 1;        /* its address is told: nothing comes between it and its instruction */
    bool returned_to : 1;   /* its address is told, and is what the call in front of it returns to:
                               nothing comes between both */
    bool switched : 1;    /* the program makes a jump of its no-operation, or the other way round */
    bool left_unseen : 1; /* control may go from its instruction to where nobody tells */
};

/* A label's name in a data directive: jump tables, label arrays, exception tables. */
/* ".set name, value": symbols; a value of several has one for each. */
struct assignment {
    uint32_t name, value;
};

struct reference {
    uint32_t symbol;
    uint32_t statement;
};

/* A .loc directive. */
struct location {
    uint32_t statement;     /* the first that it holds for */
    uint32_t start, length; /* of the text of its file, line and column */
    bool is_statement;      /* debuggers may stop there; in force until it is said again */
    bool has_view;          /* it is numbered among those of one address */
};

/* A stretch of one section that belongs to one function. */
struct fragment {
    uint32_t symbol; /* its label */
    uint32_t section;
    uint32_t first, last; /* statements [first, last) of section.statements */
};

struct asm_function {
    uint32_t symbol;
    VECTOR(struct fragment) fragments; /* the first holds the entry */
    bool compiled;                     /* made by a compiler: calling conventions hold */
    bool bare;                         /* a person's label with no instruction and no data */
    const char *left_alone;            /* why, or NULL */
    bool resolves;                     /* an ifunc: left alone, and nobody need know */
    bool returns_elsewhere; /* flow/return_addresses.c: callers in other files have to know */
    bool keeps_scratch;     /* flow/scratch.c: callers may have a value in the linker's register */
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
    VECTOR(struct location) locations; /* in the order of the text */
    VECTOR(uint32_t) files;            /* by number: the statement of its .file, or NONE */
    VECTOR(struct asm_function) functions;
    struct map symbol_index;
    uint32_t *function_of;     /* by statement: the function that it belongs to, or NONE */
    const char *source;        /* .file, or "" */
    const char *compiler;      /* .ident, or "" */
    bool compiled;             /* some compiler made it */
    bool inline_asm;           /* some statement is the user's own between #APP and #NO_APP */
    bool has_macros;           /* .macro, .rept, .if, .include: text is not what is assembled */
    bool keeps_scratch;        /* flow/scratch.c: so may those of all its functions */
    struct machine_code *code; /* measure_unit's */
};

/* Reads TEXT, which must outlive the unit, into statements.  Never fails: what it does not know it
 * marks as opaque. */
void parse_unit(struct unit *unit, const char *name, const char *text, size_t size);

/* Where the fragment begins. */
const struct statement *fragment_label(const struct unit *unit, const struct fragment *fragment);

/* Finds functions and their fragments, and marks those that must be left alone, with the reason. */
void find_functions(struct unit *unit);

/* Whatever fails from now on (util/fault.h) comes from function NUMBER; NONE: from none alone. */
void tell_subject(const struct unit *unit, uint32_t number);

/* Whether a person wrote the statement, and no compiler. */
static inline bool is_hand_written(const struct unit *unit, const struct statement *statement) {
    return !unit->compiled || statement->inline_asm;
}

/* Whether a person wrote any. */
static inline bool has_hand_written(const struct unit *unit) {
    return !unit->compiled || unit->inline_asm;
}

/* Leaves alone, for REASON, the function that STATEMENT is of, if it is of one that is not left
 * alone yet. */
static inline void leave_function_of(struct unit *unit, uint32_t statement, const char *reason) {
    uint32_t function = unit->function_of[statement];
    if (function != NONE && !unit->functions.data[function].left_alone)
        unit->functions.data[function].left_alone = reason;
}

/* The name in `symbols` of the numeric label that NAME, "1b" or "12f", leads to, in ARENA.  COUNTS:
 * by a number, how many labels of it there were so far. */
struct span numeric_label(struct arena *arena, const struct map *counts, struct span name);

/* The symbol of that name, made if need be. */
uint32_t find_symbol(struct unit *unit, const char *name, size_t length);

/* The statement's first word (mnemonic, directive) as a span. */
size_t statement_word(const struct unit *unit, const struct statement *statement);

/* Whether the statement's first word is WORD. */
bool statement_is(const struct unit *unit, const struct statement *statement, const char *word);

#endif
