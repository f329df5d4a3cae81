/* root.h: where quipu is installed. */
#ifndef QUIPU_CMD_ROOT_H
#define QUIPU_CMD_ROOT_H

#include <limits.h>

/* Sets PATH to the file of this program. Ends the program with an error if it cannot be told. */
void find_ourselves(char path[PATH_MAX]);

/* Sets ROOT to the directory that contains bin/, lib/quipu/, libexec/quipu/ and share/quipu/. Ends
 * the program with an error if it cannot be told. */
void find_root(char root[PATH_MAX]);

#endif
