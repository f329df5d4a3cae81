/* stack.h: the calls that a thread was in, from a copy of its registers and its stack; libdwfl
 * unwinds. */
#ifndef QUIPU_SYMBOLS_STACK_H
#define QUIPU_SYMBOLS_STACK_H

#include "util/arena.h"
#include "util/vector.h"
#include "x86/decode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread that waits. Registers are numbered as instructions encode them. */
struct stack_copy {
    uint64_t address; /* of the next instruction */
    uint64_t registers[GENERAL_REGISTERS];
    const uint8_t *bytes; /* of the stack, from the stack pointer upwards */
    size_t size;
};

/* A call that it was in. */
struct stack_frame {
    uint64_t address; /* the next instruction: that behind the call */
    bool interrupted; /* ... or where a signal has interrupted it */
    uint16_t known;   /* bit n: register n is known there */
    uint64_t registers[GENERAL_REGISTERS];
};

typedef VECTOR(struct stack_frame) stack_frames;

/* The modules of one process. */
struct stack_modules;

struct stack_modules *stack_modules_begin(void);
/* Adds the file at PATH, which was loaded with this bias. A file that cannot be read is left out.
 */
void stack_modules_add(struct stack_modules *modules, const char *path, uint64_t bias);
void stack_modules_end(struct stack_modules *modules);

/* Appends to FRAMES, in ARENA, the frames of COPY, the innermost one first. Returns whether they
 * are all that the thread has: its outermost frame is among them. */
bool stack_unwind(struct arena *arena, struct stack_modules *modules, const struct stack_copy *copy,
                  stack_frames *frames);

#endif
