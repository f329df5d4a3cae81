/* macros.h: the assembler's macros and conditionals: which of them leave code as it stands there.
 */
#ifndef QUIPU_ASM_MACROS_H
#define QUIPU_ASM_MACROS_H

#include "asm/unit.h"
#include "util/arena.h"
#include "util/map.h"

enum {
    CONDITIONAL_MAX = 16
};

/* What a macro puts. */
enum macro_kind {
    MACRO_NONE,  /* it is no macro's name */
    MACRO_DATA,  /* data, and nothing else, into the section where it is */
    MACRO_WORDS, /* whatever directives do, but neither instructions nor labels */
    MACRO_CODE
};

/* A conditional that is not closed yet. */
struct conditional {
    uint32_t statement;     /* the one that opens it */
    uint32_t section;       /* where it stands */
    unsigned section_depth; /* sections that wait for .popsection there */
    bool defined;           /* it asks whether a symbol is defined, and nothing else */
    bool had_macros;        /* the unit, in front of it */
};

struct macros {
    struct map names; /* to their kind */
    struct conditional conditionals[CONDITIONAL_MAX];
    unsigned depth; /* of conditionals, with those that found no place */
};

/* Behind a ".macro" with ARGUMENTS reads its text up to the ".endm"; where LEXER stands then is its
 * end.  From here on a statement may begin with its name.  Returns false where there is no end. */
bool read_macro(struct macros *macros, struct arena *arena, struct span arguments,
                struct lexer *lexer);

/* Of the macro whose name WORD begins with. */
enum macro_kind find_macro(const struct macros *macros, struct span word);

/* At a directive WORD, which stands in SECTION, with SECTION_DEPTH others that wait for
 * .popsection. A conditional in code that opens and closes other sections, and has nothing else, is
 * nothing there. */
void read_conditional(struct unit *unit, struct macros *macros, struct span word, uint32_t section,
                      unsigned section_depth);

#endif
