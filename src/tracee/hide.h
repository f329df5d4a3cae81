/* hide.h: makes instrumented code not executable in a process for a while, so that the process
 * stops where it reaches such code, from any other code. */
#ifndef QUIPU_TRACEE_HIDE_H
#define QUIPU_TRACEE_HIDE_H

#include "tracee/repeat.h"

/* Addresses of pages, as linked. */
struct code_pages {
    uint64_t start, end;
};

typedef VECTOR(struct code_pages) code_list;

/* Sets CODE to the pages of BINARY with instrumented code. */
void find_code(struct arena *arena, const struct binary *binary, code_list *code);

/* Hides CODE in PROCESS, a copy that is stopped in other code. Returns false, with nothing changed,
 * if that is not possible. */
bool hide_code(const struct run *run, const struct repeated *process, const code_list *code);

/* Makes CODE executable again. Returns false if the process has ended. */
bool reveal_code(const struct run *run, const struct repeated *process, const code_list *code);

#endif
