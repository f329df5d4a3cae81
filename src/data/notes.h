/* notes.h: the notes that the shim has put into a binary: units, functions, blocks and edges. */
#ifndef QUIPU_DATA_NOTES_H
#define QUIPU_DATA_NOTES_H

#include "data/profile.h"

/* Reads units, functions and functions that were left alone from MODULE's binary. Functions are
 * sorted by address, and have blocks, edges and instructions, but no lines yet. Skips records of
 * functions that the linker has dropped. Returns NULL, or an error message. */
const char *notes_read(struct arena *arena, struct module *module);

#endif
