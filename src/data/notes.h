/* notes.h: the notes that the shim left in a binary: units, functions, blocks and edges. */
#ifndef QUIPU_DATA_NOTES_H
#define QUIPU_DATA_NOTES_H

#include "data/profile.h"

/* Fills in units, functions (by address, with blocks, edges and instructions, no lines yet) and
 * what was left alone from MODULE's binary.  Records of functions that the linker dropped are
 * passed over.  Returns NULL, or what is wrong. */
const char *notes_read(struct arena *arena, struct module *module);

#endif
