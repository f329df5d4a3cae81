/* hide.h: instrumented code that a process cannot execute for a while, so that it stops where it
 * comes to some, from whatever code it comes. */
#ifndef QUIPU_TRACEE_HIDE_H
#define QUIPU_TRACEE_HIDE_H

#include "tracee/repeat.h"

/* Pages of a program, as linked. */
struct code_pages {
    uint64_t start, end;
};

typedef VECTOR(struct code_pages) code_list;

/* Sets CODE to the pages of BINARY that have instrumented code. */
void find_code(struct arena *arena, const struct binary *binary, code_list *code);

/* Hides CODE from PROCESS, a copy, which stands in other code.  Returns false, with nothing done,
 * where that cannot be. */
bool hide_code(const struct run *run, const struct repeated *process, const code_list *code);

/* The other way.  Returns false where it has ended. */
bool reveal_code(const struct run *run, const struct repeated *process, const code_list *code);

#endif
