/* type_name.h: types by name, as casts write them. */
#ifndef QUIPU_SYMBOLS_TYPE_NAME_H
#define QUIPU_SYMBOLS_TYPE_NAME_H

#include "symbols/type.h"
#include "util/arena.h"

/* Whether TEXT begins with a word that only names of types have: "struct", "unsigned". */
bool begins_type_name(const char *text);

/* Reads the name of a type at the begin of TEXT: "struct node *", "unsigned long", "ns::table".
 * Returns its length, or 0 if there is none. Sets TYPE, and WRONG to NULL; or sets WRONG to an
 * error message if BINARY has no such type. */
size_t read_type_name(struct arena *arena, const struct binary *binary, const char *text,
                      struct type *type, const char **wrong);

#endif
