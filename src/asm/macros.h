/* macros.h: the assembler's macros and conditionals: which of them leave code as it stands there.
 */
#ifndef QUIPU_ASM_MACROS_H
#define QUIPU_ASM_MACROS_H

#include "asm/lex.h"
#include "util/arena.h"
#include "util/map.h"

enum {
    CONDITIONAL_MAX = 16
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
    struct map names; /* what a macro may put */
    struct conditional conditionals[CONDITIONAL_MAX];
    unsigned depth; /* of conditionals, with those that found no place */
};

/* Behind a ".macro" with ARGUMENTS reads its text up to the ".endm"; where LEXER stands then is its
 * end.  From here on a statement may begin with its name.  Returns false where there is no end. */
bool read_macro(struct macros *macros, struct arena *arena, struct span arguments,
                struct lexer *lexer);

/* Whether WORD begins with the name of a macro.  DATA: whether that puts data, and no more. */
bool is_macro(const struct macros *macros, struct span word, bool *data);

#endif
