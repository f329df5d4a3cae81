/* macros.h: the assembler's macros and conditionals, and which of them output no code where they
 * are used. */
#ifndef QUIPU_ASM_MACROS_H
#define QUIPU_ASM_MACROS_H

#include "asm/unit.h"
#include "util/arena.h"
#include "util/map.h"

enum {
    CONDITIONAL_MAX = 16
};

/* The output of a macro. */
enum macro_kind {
    MACRO_NONE,  /* it is not the name of a macro */
    MACRO_DATA,  /* only data, in the section where it is used */
    MACRO_WORDS, /* any directives, but neither instructions nor labels */
    MACRO_CODE
};

/* A conditional that is still open. */
struct conditional {
    uint32_t statement;     /* the one that opens it */
    uint32_t section;       /* the section that contains it */
    unsigned section_depth; /* sections that wait for .popsection there */
    bool defined;           /* it is in code, its condition is only whether a symbol is defined,
                               and each part ends in the section in which it begins */
    bool had_macros;        /* the unit has macros before it */
};

struct macros {
    struct map names; /* their kinds */
    struct conditional conditionals[CONDITIONAL_MAX];
    unsigned depth; /* of open conditionals, also of those beyond CONDITIONAL_MAX */
};

/* Reads the text of a macro, behind its ".macro" with ARGUMENTS, up to its ".endm". LEXER is behind
 * that then. From there on, a statement may begin with the macro's name. Returns false if there is
 * no end. */
bool read_macro(struct macros *macros, struct arena *arena, struct span arguments,
                struct lexer *lexer);

/* Returns the kind of the macro whose name WORD begins with. */
enum macro_kind find_macro(const struct macros *macros, struct span word);

/* Reads a directive WORD in SECTION. SECTION_DEPTH other sections wait for .popsection. If a
 * conditional in code only enters and leaves other sections, and everything in it is there, it is
 * not opaque. */
void read_conditional(struct unit *unit, struct macros *macros, struct span word, uint32_t section,
                      unsigned section_depth);

#endif
