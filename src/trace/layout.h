/* layout.h: addresses of instructions as in the same code without inserted code.
 *
 * A module of a trace can get a layout: a binary that was built from the same source, with the same
 * compiler and options, without quipu. Then each instruction has the address, size and bytes that
 * it has there. Addresses of data stay those of the recorded run. */
#ifndef QUIPU_TRACE_LAYOUT_H
#define QUIPU_TRACE_LAYOUT_H

#include "trace/trace.h"

/* Gives one module of TRACE the layout of the binary at PATH: the module with the same soname or
 * file name; if there is none, the only program. Must be called before the first trace_begin. The
 * binary stays open as long as TRACE.
 *
 * Returns NULL; or an error message, in the trace's arena, and then TRACE can only be closed: the
 * binary cannot be read, fits no module, or has other code in a function. Functions whose name it
 * does not have, or has several times with the same code, keep their addresses. *WARNING is then a
 * text about them, in the same arena; otherwise NULL. */
const char *trace_set_layout(struct trace *trace, const char *path, const char **warning);

/* Gives TRACE the layouts of the binaries at PATHS, and warns of functions and modules that keep
 * their addresses. An error ends the program. */
void need_layouts(struct trace *trace, const text_vector *paths);

/* Gives LIST, the instructions of PIECE, the addresses and sizes of its layout. */
void lay_out_piece(const struct traced_function *function, const struct piece *piece,
                   instruction_list *list);

/* Appends the instructions of PIECE, which is padding, to LIST, as the layout has them. */
void lay_out_padding(struct arena *arena, const struct traced_function *function,
                     const struct piece *piece, instruction_list *list);

#endif
