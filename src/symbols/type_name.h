/* type_name.h: types by name, as casts spell them. */
#ifndef QUIPU_SYMBOLS_TYPE_NAME_H
#define QUIPU_SYMBOLS_TYPE_NAME_H

#include "symbols/type.h"
#include "util/arena.h"

/* Whether TEXT begins with a word that only types' names have: "struct", "unsigned". */
bool begins_type_name(const char *text);

/* Reads the name of a type that TEXT may begin with: "struct node *", "unsigned long", "ns::table".
 * Returns how long it is, 0 where there is none.  WRONG is NULL then and TYPE is set; or WRONG
 * tells that BINARY has no such type. */
size_t read_type_name(struct arena *arena, const struct binary *binary, const char *text,
                      struct type *type, const char **wrong);

#endif
